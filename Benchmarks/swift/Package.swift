// swift-tools-version: 6.1
import PackageDescription

// A separate package, so that packages that depend on Tansu build neither its benchmarks nor GRDB.
let package = Package(
    name: "swift-benchmarks",
    platforms: [.macOS(.v13)],
    dependencies: [
        .package(name: "tansu", path: "../.."),
        .package(url: "https://github.com/groue/GRDB.swift.git", from: "7.10.0"),
    ],
    targets: [
        .target(name: "CAllocations"),
        .executableTarget(
            name: "CodableBenchmark",
            dependencies: ["CAllocations", .product(name: "TansuBSON", package: "tansu")]
        ),
        .executableTarget(name: "AsyncBenchmark", dependencies: [.product(name: "Tansu", package: "tansu")]),
        .executableTarget(
            name: "SwiftPeersBenchmark",
            dependencies: [
                .product(name: "Tansu", package: "tansu"),
                .product(name: "TansuObjects", package: "tansu"),
                .product(name: "GRDB", package: "GRDB.swift"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
