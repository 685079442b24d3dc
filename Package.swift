// swift-tools-version: 6.2
import PackageDescription

/// The settings of every Swift target of the package.
var settings: [SwiftSetting] = [
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// A new compiler's new warning must not break a user's build, only ours.
if Context.environment["CI"] != nil { settings.append(.treatAllWarnings(as: .error)) }

let package = Package(
    name: "swift-run-loops",
    products: [
        .library(name: "RunLoops", targets: ["RunLoops"]),
        .library(name: "MessagePorts", targets: ["MessagePorts"]),
        .library(name: "Notifications", targets: ["Notifications"]),
        .library(name: "DistributedNotifications", targets: ["DistributedNotifications"]),
        .library(name: "Streams", targets: ["Streams"]),
        .library(name: "Inspection", targets: ["Inspection"]),
        .executable(name: "runloop-inspect", targets: ["RunLoopInspect"]),
        .library(name: "FoundationRunLoops", targets: ["FoundationRunLoops"]),
        .library(name: "HTTPClients", targets: ["HTTPClients", "TLSValues"]),
        .library(name: "HTTPServers", targets: ["HTTPServers"]),
        .library(name: "RedisNotifications", targets: ["RedisNotifications"]),
        .library(name: "RunLoopsTesting", targets: ["RunLoopsTesting"]),
        .library(name: "RunLoopsLifecycle", targets: ["RunLoopsLifecycle"]),
        .library(name: "RunLoopsLogging", targets: ["RunLoopsLogging"]),
        .library(name: "RunLoopsMetrics", targets: ["RunLoopsMetrics"]),
        .library(name: "RunLoopsNIO", targets: ["RunLoopsNIO"]),
        .library(name: "RunLoopsOpenCombine", targets: ["RunLoopsOpenCombine"]),
        .library(name: "RunLoopsTracing", targets: ["RunLoopsTracing"]),
        .library(name: "TLSStreams", targets: ["TLSStreams", "TLSValues"]),
    ],
    // A package that no enabled trait needs is not even fetched.
    traits: [
        .trait(
            name: "HTTPServers",
            description: "HTTPServers: an HTTP server on run loops, which parses with SwiftNIO",
            enabledTraits: ["NIO"]),
        .trait(
            name: "Lifecycle", description: "RunLoopsLifecycle: loops as services of swift-service-lifecycle"),
        .trait(name: "Logging", description: "RunLoopsLogging: reports of loops as messages of swift-log"),
        .trait(name: "Metrics", description: "RunLoopsMetrics: counts of loops as metrics of swift-metrics"),
        .trait(name: "NIO", description: "RunLoopsNIO: event loops and channels of SwiftNIO on run loops"),
        .trait(
            name: "OpenCombine",
            description: "RunLoopsOpenCombine: run loops, timers and notifications for OpenCombine"),
        .trait(
            name: "Tracing",
            description: "RunLoopsTracing: blocks that carry a context of swift-distributed-tracing"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        // Without its trait `FoundationURL`, so that the HTTP client does not need Foundation.
        .package(url: "https://github.com/apple/swift-http-types", from: "1.8.0", traits: []),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibEvent", path: "CLibEvent", pkgConfig: "libevent_core",
            providers: [.apt(["libevent-dev"])]),
        // The libraries of optional products are without pkg-config: SwiftPM would look for each of them, and print a hint for each
        // that is not installed, also if no product uses it. The compiler finds their headers where Debian installs them.
        .systemLibrary(name: "CLibCurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(name: "CLibZ", providers: [.apt(["zlib1g-dev"])]),
        .systemLibrary(name: "CLibSSL", providers: [.apt(["libssl-dev"])]),
        .systemLibrary(name: "CLibHiredis", providers: [.apt(["libhiredis-dev"])]),
        // What Swift cannot express, one header for each subject. The headers need no header of libevent.
        .target(name: "CRunLoops", dependencies: ["CLibEvent"]),
        .target(name: "CFoundationLoops"),
        // Code in C does not link the libraries of the modules that it uses.
        .target(
            name: "CTransfers", dependencies: ["CLibCurl", "CLibZ"],
            linkerSettings: [.linkedLibrary("curl"), .linkedLibrary("z")]),
        .target(
            name: "CSecureStreams", dependencies: ["CLibSSL"],
            linkerSettings: [.linkedLibrary("ssl"), .linkedLibrary("crypto")]),
        .target(
            name: "RunLoops",
            dependencies: [
                "CLibEvent", "CRunLoops", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "MessagePorts",
            dependencies: [
                "RunLoops", "CRunLoops", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "Notifications",
            dependencies: [
                "RunLoops", "CRunLoops", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "DistributedNotifications",
            dependencies: [
                "MessagePorts", "RunLoops", "CRunLoops",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "RedisNotifications",
            dependencies: [
                "DistributedNotifications", "RunLoops", "CLibHiredis",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "Streams",
            dependencies: [
                "RunLoops", "CRunLoops", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(name: "Inspection", dependencies: ["RunLoops", "MessagePorts"], swiftSettings: settings),
        .executableTarget(
            name: "RunLoopInspect", dependencies: ["Inspection", "RunLoops", "Streams"],
            swiftSettings: settings),
        .target(
            name: "FoundationOverlay", dependencies: ["CFoundationLoops", "Notifications", "RunLoops"],
            swiftSettings: settings),
        .target(
            name: "FoundationRunLoops", dependencies: ["FoundationOverlay", "Notifications", "RunLoops"],
            swiftSettings: settings),
        .target(name: "TLSValues", dependencies: ["RunLoops"], swiftSettings: settings),
        .target(
            name: "HTTPClients",
            dependencies: [
                "RunLoops", "Streams", "TLSValues", "CTransfers",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "HTTPTypes", package: "swift-http-types"),
            ],
            swiftSettings: settings),
        // Without its trait, it is a module that says so. Its tests are in Tests/NIO.
        .target(
            name: "HTTPServers",
            dependencies: [
                "RunLoops", "Streams",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(
                    name: "HTTPTypes", package: "swift-http-types", condition: .when(traits: ["HTTPServers"])),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["HTTPServers"])),
                .product(name: "NIOHTTP1", package: "swift-nio", condition: .when(traits: ["HTTPServers"])),
            ],
            swiftSettings: settings),
        .target(name: "RunLoopsTesting", dependencies: ["RunLoops"], swiftSettings: settings),
        // The add-ons. Without its trait, each is a module that says which trait it needs. Their tests are in Tests/AddOns.
        .target(
            name: "RunLoopsLifecycle",
            dependencies: [
                "Inspection", "RunLoops", "Streams",
                .product(
                    name: "ServiceLifecycle", package: "swift-service-lifecycle",
                    condition: .when(traits: ["Lifecycle"])),
            ],
            swiftSettings: settings),
        .target(
            name: "RunLoopsLogging",
            dependencies: [
                "RunLoops",
                .product(name: "Logging", package: "swift-log", condition: .when(traits: ["Logging"])),
            ],
            swiftSettings: settings),
        .target(
            name: "RunLoopsMetrics",
            dependencies: [
                "Inspection", "RunLoops",
                .product(name: "Metrics", package: "swift-metrics", condition: .when(traits: ["Metrics"])),
            ],
            swiftSettings: settings),
        .target(
            name: "RunLoopsNIO",
            dependencies: [
                "RunLoops", "Streams", "CRunLoops",
                .product(name: "DequeModule", package: "swift-collections"),
                .product(name: "NIOCore", package: "swift-nio", condition: .when(traits: ["NIO"])),
            ],
            swiftSettings: settings),
        .target(
            name: "RunLoopsOpenCombine",
            dependencies: [
                "FoundationRunLoops", "Notifications", "RunLoops",
                .product(
                    name: "OpenCombine", package: "OpenCombine", condition: .when(traits: ["OpenCombine"])),
            ],
            swiftSettings: settings),
        .target(
            name: "RunLoopsTracing",
            dependencies: [
                "RunLoops",
                .product(
                    name: "Tracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])),
            ],
            swiftSettings: settings),
        .target(
            name: "TLSStreams", dependencies: ["RunLoops", "Streams", "TLSValues", "CSecureStreams"],
            swiftSettings: settings),
        .target(name: "CAllocations", path: "Tests/CAllocations"),
        .systemLibrary(name: "CSQLite", path: "Tests/CSQLite", providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CForking", path: "Tests/CForking"),
        .target(name: "CFaults", path: "Tests/CFaults"),
        .target(name: "CLines", path: "Tests/CLines"),
        .target(
            name: "CTraps", dependencies: ["CLibCurl"], path: "Tests/CTraps",
            linkerSettings: [.linkedLibrary("curl")]),
        .target(
            name: "TestSupport", dependencies: ["RunLoops", "CAllocations", "CForking", "CFaults"],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        .target(
            name: "TestExpectations", dependencies: ["RunLoops", "TestSupport"],
            path: "Tests/TestExpectations",
            swiftSettings: settings),
        .executableTarget(
            name: "PlainMain", dependencies: ["RunLoops", "RunLoopsTesting", "CRunLoops", "TestSupport"],
            path: "Tests/Programs/PlainMain",
            swiftSettings: settings),
        .executableTarget(
            name: "SyncMain", dependencies: ["RunLoops"], path: "Tests/Programs/SyncMain",
            swiftSettings: settings),
        .executableTarget(
            name: "AsyncMain", dependencies: ["RunLoops", "TestSupport"],
            path: "Tests/Programs/AsyncMain",
            swiftSettings: settings),
        .executableTarget(
            name: "TopLevelMain", dependencies: ["RunLoops", "TestSupport"],
            path: "Tests/Programs/TopLevelMain", swiftSettings: settings),
        .executableTarget(
            name: "PortPeer", dependencies: ["MessagePorts", "RunLoops", "CRunLoops", "TestSupport"],
            path: "Tests/Programs/PortPeer", swiftSettings: settings),
        .executableTarget(
            name: "NotificationPeer",
            dependencies: ["DistributedNotifications", "MessagePorts", "RunLoops", "TestSupport"],
            path: "Tests/Programs/NotificationPeer", swiftSettings: settings),
        .executableTarget(
            name: "SuspendingMain", dependencies: ["RunLoops", "TestSupport"],
            path: "Tests/Programs/SuspendingMain", swiftSettings: settings),
        .executableTarget(
            name: "RestartServer", dependencies: ["MessagePorts", "RunLoops", "TestSupport"],
            path: "Tests/Programs/RestartServer", swiftSettings: settings),
        .executableTarget(
            name: "Soak", dependencies: ["Notifications", "RunLoops", "TestSupport"],
            path: "Tests/Programs/Soak", swiftSettings: settings),
        .testTarget(
            name: "RunLoopsTests",
            dependencies: ["RunLoops", "CRunLoops", "TestSupport", "TestExpectations", "CSQLite", "CLines"],
            swiftSettings: settings),
        .testTarget(
            name: "MessagePortsTests",
            dependencies: ["MessagePorts", "RunLoops", "CRunLoops", "TestSupport", "TestExpectations"],
            swiftSettings: settings),
        .testTarget(
            name: "DistributedNotificationsTests",
            dependencies: [
                "DistributedNotifications", "MessagePorts", "RunLoops", "CFaults", "TestSupport",
                "TestExpectations",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "NotificationsTests", dependencies: ["Notifications", "TestSupport", "TestExpectations"],
            swiftSettings: settings),
        .testTarget(
            name: "FoundationRunLoopsTests",
            dependencies: ["FoundationRunLoops", "RunLoops", "CFaults", "TestSupport", "TestExpectations"],
            swiftSettings: settings),
        .testTarget(
            name: "StreamsTests",
            dependencies: [
                "Streams", "RunLoops", "CRunLoops", "RunLoopsTesting", "TestSupport", "TestExpectations",
            ],
            swiftSettings: settings),
        .executableTarget(
            name: "Inspected", dependencies: ["Inspection", "RunLoops", "TestSupport"],
            path: "Tests/Programs/Inspected", swiftSettings: settings),
        .testTarget(
            name: "InspectionTests",
            dependencies: [
                "Inspection", "MessagePorts", "Notifications", "RunLoops", "RunLoopsTesting", "Streams",
                "TestSupport", "TestExpectations",
            ],
            exclude: ["Golden"],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPClientsTests",
            dependencies: [
                "HTTPClients", "RunLoops", "Streams", "TLSValues", "TestSupport", "TestExpectations",
                "CFaults",
                "CTraps",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RedisNotificationsTests",
            dependencies: [
                "DistributedNotifications", "RedisNotifications", "RunLoops", "Streams", "CLibHiredis",
                "TestSupport", "TestExpectations",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "RunLoopsTestingTests",
            dependencies: ["RunLoopsTesting", "Notifications", "TestSupport", "TestExpectations"],
            swiftSettings: settings),
        .testTarget(
            name: "TLSStreamsTests",
            dependencies: [
                "TLSStreams", "Streams", "RunLoops", "CFaults", "TestSupport", "TestExpectations",
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
