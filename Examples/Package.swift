// swift-tools-version: 6.1
import PackageDescription

// A separate package that depends on Tansu, like an application.
let package = Package(
    name: "tansu-examples",
    platforms: [.macOS(.v13)],
    dependencies: [
        // The trait is for SyncedNotes.
        .package(name: "tansu", path: "..", traits: ["TansuSync"]),
        // Those below are for TaskService and its tests.
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
    ],
    targets: [
        .target(name: "Checking"),
        .target(
            name: "FieldServiceData",
            dependencies: [.product(name: "TansuObjects", package: "tansu")]
        ),
        .executableTarget(
            name: "FieldServiceDay",
            dependencies: ["Checking", "FieldServiceData", .product(name: "TansuObjects", package: "tansu")]
        ),
        .testTarget(
            name: "FieldServiceTests",
            dependencies: ["FieldServiceData", .product(name: "TansuObjects", package: "tansu")]
        ),
        .executableTarget(
            name: "LogAnalyser",
            dependencies: ["Checking", .product(name: "Tansu", package: "tansu")]
        ),
        .executableTarget(
            name: "NotesStore",
            dependencies: ["Checking", .product(name: "Tansu", package: "tansu")]
        ),
        .executableTarget(
            name: "PlaceSearch",
            dependencies: ["Checking", .product(name: "Tansu", package: "tansu")]
        ),
        .executableTarget(
            name: "ServerLoad",
            dependencies: ["Checking", .product(name: "Tansu", package: "tansu")]
        ),
        .executableTarget(
            name: "SyncedNotes",
            dependencies: [
                "Checking", .product(name: "Tansu", package: "tansu"), .product(name: "TansuBSON", package: "tansu"),
                .product(name: "TansuSync", package: "tansu"),
            ]
        ),
        .executableTarget(
            name: "TaskServer",
            dependencies: [
                "TaskService", .product(name: "Tansu", package: "tansu"),
                .product(name: "Hummingbird", package: "hummingbird"), .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
            ]
        ),
        .target(
            name: "TaskService",
            dependencies: [
                .product(name: "Tansu", package: "tansu"), .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"), .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ]
        ),
        .testTarget(
            name: "TaskServiceTests",
            dependencies: [
                "TaskService", .product(name: "Tansu", package: "tansu"),
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "HummingbirdTesting", package: "hummingbird"),
                .product(name: "AsyncHTTPClient", package: "async-http-client"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "NIOCore", package: "swift-nio"),
            ]
        ),
    ],
    swiftLanguageModes: [.v6]
)
