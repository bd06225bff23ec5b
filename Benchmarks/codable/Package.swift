// swift-tools-version: 6.1
import PackageDescription

// A separate package, so that packages that depend on Tansu do not build its benchmarks.
let package = Package(
    name: "codable-benchmark",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "tansu", path: "../..")],
    targets: [
        .target(name: "CAllocations"),
        .executableTarget(
            name: "CodableBenchmark",
            dependencies: ["CAllocations", .product(name: "TansuBSON", package: "tansu")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
