// swift-tools-version: 6.1
import PackageDescription

// A separate package, so that packages that depend on Tansu do not build its benchmarks.
let package = Package(
    name: "async-reads-benchmark",
    platforms: [.macOS(.v13)],
    dependencies: [.package(name: "tansu", path: "../..")],
    targets: [
        .executableTarget(name: "AsyncBenchmark", dependencies: [.product(name: "Tansu", package: "tansu")])
    ],
    swiftLanguageModes: [.v6]
)
