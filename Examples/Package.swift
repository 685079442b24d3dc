// swift-tools-version: 6.2
import PackageDescription

// A separate package: programs to start from, which are not part of the libraries.
var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// A warning that a new compiler adds fails the build only in CI.
if Context.environment["CI"] != nil { settings.append(.treatAllWarnings(as: .error)) }

let runLoops = Target.Dependency.product(name: "RunLoops", package: "swift-run-loops")
let streams = Target.Dependency.product(name: "Streams", package: "swift-run-loops")
let httpClients = Target.Dependency.product(name: "HTTPClients", package: "swift-run-loops")
let httpServers = Target.Dependency.product(name: "HTTPServers", package: "swift-run-loops")
let inspection = Target.Dependency.product(name: "Inspection", package: "swift-run-loops")
let distributedNotifications = Target.Dependency.product(
    name: "DistributedNotifications", package: "swift-run-loops")
let redisNotifications = Target.Dependency.product(
    name: "RedisNotifications", package: "swift-run-loops")
let messagePorts = Target.Dependency.product(name: "MessagePorts", package: "swift-run-loops")

let package = Package(
    name: "run-loop-examples",
    products: [
        .executable(name: "chat-server", targets: ["chat-server"]),
        .executable(name: "tcp-proxy", targets: ["tcp-proxy"]),
        .executable(name: "restarting-server", targets: ["restarting-server"]),
        .executable(name: "fetcher", targets: ["fetcher"]),
        .executable(name: "job-runner", targets: ["job-runner"]),
        .executable(name: "notes-service", targets: ["notes-service"]),
        .executable(name: "http-loops", targets: ["http-loops"]),
        .executable(name: "cache-worker", targets: ["cache-worker"]),
        .executable(name: "redis-cache-worker", targets: ["redis-cache-worker"]),
        // For the package in BesideNIO.
        .library(name: "NoteStorage", targets: ["NoteStorage"]),
    ],
    dependencies: [
        .package(name: "swift-run-loops", path: "..", traits: ["HTTPServers"]),
        // Without its trait, so that it does not need Foundation.
        .package(url: "https://github.com/swiftlang/swift-subprocess", from: "1.0.2", traits: []),
    ],
    targets: [
        .target(name: "ServerSupport", dependencies: [runLoops, streams], swiftSettings: settings),
        .target(
            name: "Succession", dependencies: ["ServerSupport", runLoops, messagePorts],
            swiftSettings: settings),
        .systemLibrary(
            name: "CSQLite", path: "CSQLite", pkgConfig: "sqlite3", providers: [.apt(["libsqlite3-dev"])]),
        .executableTarget(
            name: "chat-server", dependencies: ["ServerSupport", runLoops, streams],
            path: "Sources/ChatServer", swiftSettings: settings),
        .executableTarget(
            name: "tcp-proxy", dependencies: ["ServerSupport", runLoops, streams],
            path: "Sources/TCPProxy", swiftSettings: settings),
        .executableTarget(
            name: "restarting-server",
            dependencies: ["ServerSupport", "Succession", runLoops, streams, messagePorts],
            path: "Sources/RestartingServer", swiftSettings: settings),
        .executableTarget(
            name: "fetcher", dependencies: ["ServerSupport", runLoops, httpClients],
            path: "Sources/Fetcher", swiftSettings: settings),
        .executableTarget(
            name: "job-runner",
            dependencies: [
                "ServerSupport", runLoops, .product(name: "Subprocess", package: "swift-subprocess"),
            ],
            path: "Sources/JobRunner", swiftSettings: settings),
        .target(name: "NoteStorage", dependencies: ["CSQLite", runLoops], swiftSettings: settings),
        .executableTarget(
            name: "notes-service",
            dependencies: [
                "NoteStorage", "ServerSupport", "Succession", runLoops, streams, httpServers, inspection,
                messagePorts,
            ],
            path: "Sources/NotesService", swiftSettings: settings),
        .executableTarget(
            name: "http-loops", dependencies: ["ServerSupport", runLoops, streams, httpServers],
            path: "Sources/HTTPLoops", swiftSettings: settings),
        .target(
            name: "CacheWorkers", dependencies: ["ServerSupport", runLoops, distributedNotifications],
            swiftSettings: settings),
        .executableTarget(
            name: "cache-worker",
            dependencies: ["CacheWorkers", "ServerSupport", messagePorts, distributedNotifications],
            path: "Sources/CacheWorker", swiftSettings: settings),
        .executableTarget(
            name: "redis-cache-worker",
            dependencies: ["CacheWorkers", "ServerSupport", redisNotifications, distributedNotifications],
            path: "Sources/RedisCacheWorker", swiftSettings: settings),
        .testTarget(
            name: "ExampleTests",
            dependencies: [
                "chat-server", "tcp-proxy", "restarting-server", "fetcher", "job-runner", "notes-service",
                "http-loops", "cache-worker", "redis-cache-worker", messagePorts, runLoops,
            ],
            path: "Tests/ExampleTests", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
