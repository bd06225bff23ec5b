// swift-tools-version: 6.1
import PackageDescription

// Swift 6.1 compiles that module as any other. `.defaultIsolation` needs a manifest for Swift 6.2.
#if compiler(>=6.2)
let isolatedToMainActor: [SwiftSetting] = [
    .unsafeFlags(["-default-isolation", "MainActor"]),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
    .enableUpcomingFeature("InferIsolatedConformances"),
]
#else
let isolatedToMainActor: [SwiftSetting] = []
#endif

// What Apple's stores ask of a library. Elsewhere it would only be a folder beside each program.
#if os(macOS)
let privacyManifest: [Resource] = [.copy("PrivacyInfo.xcprivacy")]
let notCompiled: [String] = []
#else
let privacyManifest: [Resource] = []
let notCompiled = ["PrivacyInfo.xcprivacy"]
#endif

let package = Package(
    name: "tansu",
    platforms: [.macOS(.v13), .macCatalyst(.v16), .iOS(.v16), .tvOS(.v16), .watchOS(.v9), .visionOS(.v1)],
    products: [
        .library(name: "Tansu", targets: ["Tansu"]),
        .library(name: "TansuBSON", targets: ["TansuBSON"]),
        .library(name: "TansuEJDBKit", targets: ["TansuEJDBKit"]),
        .library(name: "TansuObjects", targets: ["TansuObjects"]),
        .library(name: "TansuSync", targets: ["TansuSync"]),
        .library(name: "TansuServer", targets: ["TansuServer"]),
        .executable(name: "tansu", targets: ["TansuCommand"]),
    ],
    traits: [
        .default(enabledTraits: ["InstalledEngine"]),
        .trait(
            name: "InstalledEngine",
            description: "Links the C engine that build-engine.sh installs, unless EngineFromSource compiles it"),
        .trait(
            name: "TansuSync",
            description: "CouchDB: revisions, attachments, replication, its order of values and its query dialect",
            enabledTraits: ["InstalledEngine"]),
        .trait(
            name: "TansuServer", description: "The HTTP API of CouchDB, and the command tansu serve",
            enabledTraits: ["TansuSync"]),
        .trait(
            name: "EngineFromSource",
            description: "Compiles the C engine, which then needs zlib alone, instead of linking the installed one"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", from: "1.16.0"),
        .package(url: "https://github.com/apple/swift-metrics.git", from: "2.5.0"),
        // Only the trait TansuSync needs it.
        .package(url: "https://github.com/apple/swift-crypto.git", "3.12.0"..<"5.0.0"),
        // Only the trait TansuSync needs it, for replication over HTTP.
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.37.0"),
        // Only the trait TansuServer needs these.
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.101.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.34.1"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.37.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.8.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing.git", from: "1.7.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", from: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", from: "5.7.0"),
    ],
    targets: [
        // The C engine, as build-engine.sh installs it. The providers are what it is built on:
        // they are CEngine/dependencies once more, because a manifest cannot read a file.
        .systemLibrary(
            name: "CTansu",
            pkgConfig: "tansu",
            providers: [
                .apt([
                    "libtokyocabinet-dev", "zlib1g-dev", "libdeflate-dev", "libbson-dev", "libpcre2-dev",
                    "libutf8proc-dev", "liblz4-dev", "libssl-dev", "libstemmer-dev",
                ]),
                .brew([
                    "tokyo-cabinet", "zlib", "libdeflate", "mongo-c-driver@1", "pcre2", "utf8proc", "lz4", "openssl@3",
                    "snowball",
                ]),
            ]
        ),
        // The C engine, compiled with the package: with the trait, and on systems where no library can be installed.
        .target(
            name: "CTansuSource",
            path: "CEngine",
            exclude: [
                "Makefile", "amalgamate", "bindings", "dependencies", "fuzz", "packaging", "sqlite", "tansu.pc.in",
                "tests",
            ],
            sources: ["src"],
            publicHeadersPath: "include",
            // As in CEngine/Makefile.
            cSettings: [
                .headerSearchPath("src"), .define("_GNU_SOURCE"), .define("_FILE_OFFSET_BITS", to: "64"),
                .define("_TIME_BITS", to: "64"),
            ],
            linkerSettings: [.linkedLibrary("z"), .linkedLibrary("m", .when(platforms: [.linux, .android]))]
        ),
        .target(name: "CTansuMobile", dependencies: ["CTansuSource"]),
        .target(name: "TansuBSON"),
        .target(
            name: "Tansu",
            dependencies: [
                .target(
                    name: "CTansu", condition: .when(platforms: [.linux, .macOS], traits: ["InstalledEngine"])),
                .target(name: "CTansuSource", condition: .when(traits: ["EngineFromSource"])),
                .target(
                    name: "CTansuMobile",
                    condition: .when(platforms: [.iOS, .tvOS, .watchOS, .visionOS, .macCatalyst, .android])),
                "TansuBSON",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                // For attachments as CouchDB stores them.
                .target(name: "CTansuZlib", condition: .when(traits: ["TansuSync"])),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["TansuSync"])),
            ],
            exclude: notCompiled,
            resources: privacyManifest
        ),
        .target(name: "TansuEJDBKit", dependencies: ["Tansu"]),
        .target(name: "TansuObjects", dependencies: ["Tansu"]),
        // CouchDB orders text by ICU's root collation. Only the trait TansuSync needs it.
        .systemLibrary(
            name: "CTansuICU",
            pkgConfig: "icu-i18n",
            providers: [.apt(["libicu-dev"]), .brew(["icu4c"])]
        ),
        // Empty without the trait.
        .target(
            name: "CTansuCollation",
            dependencies: [.target(name: "CTansuICU", condition: .when(traits: ["TansuSync"]))],
            cSettings: [.define("TANSU_SYNC", .when(traits: ["TansuSync"]))]
        ),
        // The engine's library for regular expressions, which its own header does not offer.
        .systemLibrary(
            name: "CTansuPCRE2",
            pkgConfig: "libpcre2-8",
            providers: [.apt(["libpcre2-dev"]), .brew(["pcre2"])]
        ),
        // Empty without the trait: its files are inside #if TansuSync.
        .target(
            name: "TansuSync",
            dependencies: [
                "Tansu",
                "TansuBSON",
                .target(name: "CTansuCollation", condition: .when(traits: ["TansuSync"])),
                .target(name: "CTansuPCRE2", condition: .when(traits: ["TansuSync"])),
                .target(name: "CTansuZlib", condition: .when(traits: ["TansuSync"])),
                .product(
                    name: "AsyncHTTPClient", package: "async-http-client", condition: .when(traits: ["TansuSync"])),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["TansuSync"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["TansuSync"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["TansuSync"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["TansuSync"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["TansuSync"])),
            ]
        ),
        // Empty without the trait: its files are inside #if TansuServer.
        .target(
            name: "TansuServer",
            dependencies: [
                "Tansu",
                "TansuBSON",
                "TansuSync",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "Crypto", package: "swift-crypto", condition: .when(traits: ["TansuServer"])),
                .product(name: "_CryptoExtras", package: "swift-crypto", condition: .when(traits: ["TansuServer"])),
                .product(name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["TansuServer"])),
                .product(name: "HummingbirdCore", package: "hummingbird", condition: .when(traits: ["TansuServer"])),
                .product(name: "HummingbirdTLS", package: "hummingbird", condition: .when(traits: ["TansuServer"])),
                .product(name: "JWTKit", package: "jwt-kit", condition: .when(traits: ["TansuServer"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["TansuServer"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["TansuServer"])),
                .product(
                    name: "NIOHTTPTypesHTTP1", package: "swift-nio-extras", condition: .when(traits: ["TansuServer"])),
                .product(name: "NIOPosix", package: "swift-nio", condition: .when(traits: ["TansuServer"])),
                .product(name: "NIOSSL", package: "swift-nio-ssl", condition: .when(traits: ["TansuServer"])),
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["TansuServer"])),
                .product(
                    name: "Tracing", package: "swift-distributed-tracing", condition: .when(traits: ["TansuServer"])),
            ],
            resources: [.embedInCode("Inspector/Page")]
        ),
        // The command line reads .gz files with it, and attachments of text are stored as gzip. Target names are unique across all packages of a build: a
        // plain "CZlib" would forbid that name to every package that depends on this one.
        .systemLibrary(
            name: "CTansuZlib",
            path: "Sources/CZlib",
            pkgConfig: "zlib",
            providers: [.apt(["zlib1g-dev"]), .brew(["zlib"])]
        ),
        // Not named like its product: "tansu" and "Tansu" are one name on a file system that ignores case.
        .executableTarget(
            name: "TansuCommand",
            dependencies: [
                "CTansuZlib",
                "Tansu",
                "TansuBSON",
                .target(name: "TansuServer", condition: .when(traits: ["TansuServer"])),
                .target(name: "TansuSync", condition: .when(traits: ["TansuSync"])),
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["TansuServer"])),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
            ],
            exclude: ["Resources/README.md"],
            resources: [.copy("Resources/cities.ndjson.gz")]
        ),
        .target(name: "TansuTestSupport", dependencies: ["CTansuZlib", "Tansu"], path: "Tests/TansuTestSupport"),
        .testTarget(
            name: "TansuBSONTests",
            dependencies: ["TansuBSON"],
            resources: [.copy("Resources")]
        ),
        .testTarget(
            name: "TansuTests",
            dependencies: [
                "Tansu",
                "TansuBSON",
                "TansuEJDBKit",
                "TansuObjects",
                "TansuTestSupport",
                .product(name: "Logging", package: "swift-log"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
            ],
            resources: [.copy("Resources")]
        ),
        // A module that has types with the names of the library's.
        .testTarget(name: "TansuNamesTests", dependencies: ["Tansu"]),
        // A module as new Xcode projects have it: what does not say otherwise belongs to the main actor.
        .testTarget(
            name: "TansuMainActorTests",
            dependencies: ["TansuSync", "TansuObjects", "Tansu", "TansuTestSupport"],
            swiftSettings: isolatedToMainActor
        ),
        .testTarget(
            name: "TansuEJDBKitTests",
            dependencies: ["TansuEJDBKit", "Tansu", "TansuTestSupport"]
        ),
        .testTarget(
            name: "TansuObjectsTests",
            dependencies: ["TansuObjects", "Tansu", "TansuTestSupport"]
        ),
        .testTarget(
            name: "TansuSyncTests",
            dependencies: ["TansuSync", "Tansu", "TansuBSON", "TansuTestSupport"],
            resources: [.copy("Resources")]
        ),
        .testTarget(
            name: "TansuServerTests",
            dependencies: [
                "TansuServer", "TansuSync", "Tansu", "TansuBSON", "TansuTestSupport",
                .product(name: "NIOEmbedded", package: "swift-nio", condition: .when(traits: ["TansuServer"])),
                .product(
                    name: "InMemoryTracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["TansuServer"])),
            ],
            resources: [.copy("Resources")]
        ),
        .testTarget(
            name: "TansuCommandTests",
            dependencies: ["TansuCommand", "CTansuZlib", "Tansu", "TansuBSON"],
            exclude: ["Resources/README.md"],
            resources: [.copy("Resources/ejdb")]
        ),
    ],
    swiftLanguageModes: [.v6]
)
