// swift-tools-version: 6.1
import PackageDescription

// A separate package that depends on Tansu, like an application.
let package = Package(
    name: "tansu-examples",
    platforms: [.macOS(.v13)],
    // The trait is for SyncedNotes.
    dependencies: [.package(name: "tansu", path: "..", traits: ["TansuSync"])],
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
    ],
    swiftLanguageModes: [.v6]
)
