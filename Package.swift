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
        .library(name: "HTTPClients", targets: ["HTTPClients", "HTTPMessages"]),
        .library(name: "HTTPServers", targets: ["HTTPServers", "HTTPMessages"]),
        .library(name: "RedisNotifications", targets: ["RedisNotifications"]),
        .library(name: "RunLoopsTesting", targets: ["RunLoopsTesting"]),
        .library(name: "RunLoopsLifecycle", targets: ["RunLoopsLifecycle"]),
        .library(name: "RunLoopsLogging", targets: ["RunLoopsLogging"]),
        .library(name: "RunLoopsMetrics", targets: ["RunLoopsMetrics"]),
        .library(name: "RunLoopsTracing", targets: ["RunLoopsTracing"]),
        .library(name: "TLSStreams", targets: ["TLSStreams"]),
    ],
    // A package that no enabled trait needs is not even fetched.
    traits: [
        .trait(
            name: "Lifecycle", description: "RunLoopsLifecycle: loops as services of swift-service-lifecycle"),
        .trait(name: "Logging", description: "RunLoopsLogging: reports of loops as messages of swift-log"),
        .trait(name: "Metrics", description: "RunLoopsMetrics: counts of loops as metrics of swift-metrics"),
        .trait(
            name: "Tracing",
            description: "RunLoopsTracing: blocks that carry a context of swift-distributed-tracing"),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0"),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .systemLibrary(
            name: "CLibEvent", path: "CLibEvent", pkgConfig: "libevent_core",
            providers: [.apt(["libevent-dev"])]),
        .systemLibrary(
            name: "CLibCurl", path: "CLibCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CLibMicroHTTPD", path: "CLibMicroHTTPD", pkgConfig: "libmicrohttpd",
            providers: [.apt(["libmicrohttpd-dev"])]),
        .systemLibrary(
            name: "CLibSSL", path: "CLibSSL", pkgConfig: "openssl", providers: [.apt(["libssl-dev"])]),
        // Without pkg-config, whose flags for it SwiftPM refuses.
        .systemLibrary(name: "CLibHiredis", path: "CLibHiredis", providers: [.apt(["libhiredis-dev"])]),
        .target(name: "CEventBase", dependencies: ["CLibEvent"]),
        .target(name: "CThreads"),
        .target(name: "CHTTPDaemon", dependencies: ["CLibMicroHTTPD"]),
        .target(name: "CMainQueue"),
        .target(name: "CFoundationLoops"),
        .target(name: "CSockets"),
        .target(name: "CStreams"),
        .target(name: "CNumberFiles"),
        .target(name: "CTransfers", dependencies: ["CLibCurl"]),
        .target(name: "CSecureStreams", dependencies: ["CLibSSL"]),
        .target(
            name: "RunLoops",
            dependencies: [
                "CLibEvent", "CEventBase", "CThreads", "CMainQueue",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "MessagePorts",
            dependencies: [
                "RunLoops", "CThreads", "CSockets",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "Notifications",
            dependencies: [
                "RunLoops", "CThreads", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "DistributedNotifications",
            dependencies: [
                "MessagePorts", "RunLoops", "CNumberFiles",
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
                "RunLoops", "CStreams", .product(name: "DequeModule", package: "swift-collections"),
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
        .target(
            name: "HTTPMessages",
            dependencies: [.product(name: "DequeModule", package: "swift-collections")],
            swiftSettings: settings),
        .target(
            name: "HTTPClients",
            dependencies: [
                "HTTPMessages", "RunLoops", "CTransfers",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "HTTPServers",
            dependencies: [
                "HTTPMessages", "RunLoops", "Streams", "CHTTPDaemon",
                .product(name: "DequeModule", package: "swift-collections"),
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
            name: "RunLoopsTracing",
            dependencies: [
                "RunLoops",
                .product(
                    name: "Tracing", package: "swift-distributed-tracing",
                    condition: .when(traits: ["Tracing"])),
            ],
            swiftSettings: settings),
        .target(
            name: "TLSStreams", dependencies: ["RunLoops", "Streams", "CSecureStreams"],
            swiftSettings: settings),
        .target(name: "CAllocations", path: "Tests/CAllocations"),
        .systemLibrary(
            name: "CSQLite", path: "Tests/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CForking", path: "Tests/CForking"),
        .target(name: "CFaults", path: "Tests/CFaults"),
        .target(name: "CLines", path: "Tests/CLines"),
        .target(name: "CTraps", dependencies: ["CLibCurl"], path: "Tests/CTraps"),
        .target(
            name: "TestSupport", dependencies: ["RunLoops", "CAllocations", "CForking", "CFaults"],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        .target(
            name: "TestExpectations", dependencies: ["RunLoops", "TestSupport"],
            path: "Tests/TestExpectations",
            swiftSettings: settings),
        .executableTarget(
            name: "PlainMain", dependencies: ["RunLoops", "RunLoopsTesting", "CMainQueue", "TestSupport"],
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
            name: "PortPeer", dependencies: ["MessagePorts", "RunLoops", "CSockets", "TestSupport"],
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
            dependencies: [
                "RunLoops", "CSockets", "CThreads", "TestSupport", "TestExpectations", "CSQLite", "CLines",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "MessagePortsTests",
            dependencies: [
                "MessagePorts", "RunLoops", "CSockets", "CThreads", "TestSupport", "TestExpectations",
            ],
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
                "Streams", "RunLoops", "CStreams", "RunLoopsTesting", "TestSupport", "TestExpectations",
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
                "HTTPClients", "RunLoops", "TestSupport", "TestExpectations", "CFaults", "CTraps",
            ],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPServersTests",
            dependencies: ["HTTPServers", "RunLoops", "Streams", "TestSupport", "TestExpectations"],
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
