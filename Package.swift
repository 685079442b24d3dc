// swift-tools-version: 6.2
import PackageDescription

/// What every Swift target of the package is compiled with.
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
        .library(name: "Streams", targets: ["Streams"]),
        .library(name: "Inspection", targets: ["Inspection"]),
        .executable(name: "runloop-inspect", targets: ["RunLoopInspect"]),
        .library(name: "FoundationRunLoops", targets: ["FoundationRunLoops"]),
        .library(name: "HTTPClients", targets: ["HTTPClients"]),
        .library(name: "RunLoopsTesting", targets: ["RunLoopsTesting"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0")
    ],
    targets: [
        .systemLibrary(
            name: "CLibEvent", path: "CLibEvent", pkgConfig: "libevent_core",
            providers: [.apt(["libevent-dev"])]),
        .systemLibrary(
            name: "CLibCurl", path: "CLibCurl", pkgConfig: "libcurl",
            providers: [.apt(["libcurl4-openssl-dev"])]),
        .target(name: "CEventBase", dependencies: ["CLibEvent"]),
        .target(name: "CThreads"),
        .target(name: "CMainQueue"),
        .target(name: "CSockets"),
        .target(name: "CStreams"),
        .target(name: "CTransfers", dependencies: ["CLibCurl"]),
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
            name: "FoundationOverlay", dependencies: ["Notifications", "RunLoops"], swiftSettings: settings),
        .target(
            name: "FoundationRunLoops", dependencies: ["FoundationOverlay", "Notifications", "RunLoops"],
            swiftSettings: settings),
        .target(
            name: "HTTPClients",
            dependencies: [
                "RunLoops", "CTransfers", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(name: "RunLoopsTesting", dependencies: ["RunLoops"], swiftSettings: settings),
        .target(name: "CAllocations", path: "Tests/CAllocations"),
        .systemLibrary(
            name: "CSQLite", path: "Tests/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CForking", path: "Tests/CForking"),
        .target(name: "CFaults", path: "Tests/CFaults"),
        .target(name: "CLines", path: "Tests/CLines"),
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
            name: "NotificationsTests", dependencies: ["Notifications", "TestSupport", "TestExpectations"],
            swiftSettings: settings),
        .testTarget(
            name: "FoundationRunLoopsTests",
            dependencies: ["FoundationRunLoops", "RunLoops", "TestSupport", "TestExpectations"],
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
                "Inspection", "MessagePorts", "RunLoops", "RunLoopsTesting", "TestSupport",
            ],
            exclude: ["Golden"],
            swiftSettings: settings),
        .testTarget(
            name: "HTTPClientsTests",
            dependencies: ["HTTPClients", "RunLoops", "TestSupport", "TestExpectations", "CFaults"],
            swiftSettings: settings),
        .testTarget(
            name: "RunLoopsTestingTests",
            dependencies: ["RunLoopsTesting", "Notifications", "TestSupport", "TestExpectations"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
