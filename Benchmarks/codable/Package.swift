// swift-tools-version: 6.1
import PackageDescription

// A package of its own, so that nobody who depends on Tansu builds its benchmarks.
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
