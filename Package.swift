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
        .library(name: "Notifications", targets: ["Notifications"]),
        .library(name: "RunLoopsTesting", targets: ["RunLoopsTesting"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-collections", from: "1.6.0")
    ],
    targets: [
        .systemLibrary(
            name: "CLibEvent", path: "CLibEvent", pkgConfig: "libevent_core",
            providers: [.apt(["libevent-dev"])]),
        .target(name: "CThreads"),
        .target(name: "CMainQueue"),
        .target(name: "CSockets"),
        .target(
            name: "RunLoops",
            dependencies: [
                "CLibEvent", "CThreads", "CMainQueue", "CSockets",
                .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(
            name: "Notifications",
            dependencies: [
                "RunLoops", "CThreads", .product(name: "DequeModule", package: "swift-collections"),
            ],
            swiftSettings: settings),
        .target(name: "RunLoopsTesting", dependencies: ["RunLoops"], swiftSettings: settings),
        .target(name: "CAllocations", path: "Tests/CAllocations"),
        .systemLibrary(
            name: "CSQLite", path: "Tests/CSQLite", pkgConfig: "sqlite3",
            providers: [.apt(["libsqlite3-dev"])]),
        .target(name: "CForking", path: "Tests/CForking"),
        .target(name: "CFaults", path: "Tests/CFaults"),
        .target(
            name: "TestSupport", dependencies: ["RunLoops", "CAllocations", "CForking", "CFaults"],
            path: "Tests/TestSupport",
            swiftSettings: settings),
        .executableTarget(
            name: "PlainMain", dependencies: ["RunLoops", "RunLoopsTesting", "CMainQueue", "TestSupport"],
            path: "Tests/MainPrograms/PlainMain",
            swiftSettings: settings),
        .executableTarget(
            name: "SyncMain", dependencies: ["RunLoops"], path: "Tests/MainPrograms/SyncMain",
            swiftSettings: settings),
        .executableTarget(
            name: "AsyncMain", dependencies: ["RunLoops", "TestSupport"],
            path: "Tests/MainPrograms/AsyncMain",
            swiftSettings: settings),
        .executableTarget(
            name: "TopLevelMain", dependencies: ["RunLoops", "TestSupport"],
            path: "Tests/MainPrograms/TopLevelMain", swiftSettings: settings),
        .executableTarget(
            name: "PortPeer", dependencies: ["RunLoops", "TestSupport"],
            path: "Tests/MainPrograms/PortPeer", swiftSettings: settings),
        .executableTarget(
            name: "SuspendingMain", dependencies: ["RunLoops", "TestSupport"],
            path: "Tests/MainPrograms/SuspendingMain", swiftSettings: settings),
        .executableTarget(
            name: "RestartServer", dependencies: ["RunLoops", "TestSupport"],
            path: "Tests/MainPrograms/RestartServer", swiftSettings: settings),
        .testTarget(
            name: "RunLoopsTests", dependencies: ["RunLoops", "CThreads", "TestSupport", "CSQLite"],
            swiftSettings: settings),
        .testTarget(
            name: "NotificationsTests", dependencies: ["Notifications", "TestSupport"],
            swiftSettings: settings),
        .testTarget(
            name: "RunLoopsTestingTests", dependencies: ["RunLoopsTesting", "Notifications", "TestSupport"],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
