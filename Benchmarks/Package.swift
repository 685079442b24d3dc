// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that users of the libraries do not get the dependencies of the benchmarks.
var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]

// A warning that a new compiler adds fails the build only in CI.
if Context.environment["CI"] != nil { settings.append(.treatAllWarnings(as: .error)) }

let package = Package(
    name: "runloop-bench",
    products: [.executable(name: "runloop-bench", targets: ["runloop-bench"])],
    traits: [
        .trait(
            name: "Redis",
            description: "Posts to a Redis server; needs libhiredis-dev, and redis-server to run")
    ],
    dependencies: [
        .package(name: "swift-run-loops", path: "..", traits: ["HTTPServers", "NIO"]),
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.8.2"),
        .package(url: "https://github.com/HdrHistogram/hdrhistogram-swift", from: "0.2.0"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .target(name: "CYardsticks"),
        .target(name: "CAllocationCounter"),
        .target(name: "CThreadControl"),
        .target(name: "CLoad", linkerSettings: [.linkedLibrary("event_core")]),
        .target(
            name: "CWeb", dependencies: ["CLoad"],
            linkerSettings: [
                .linkedLibrary("curl"), .linkedLibrary("ssl"), .linkedLibrary("crypto"),
            ]),
        .target(
            name: "CRedisLoad", cSettings: [.define("BENCH_REDIS", .when(traits: ["Redis"]))],
            linkerSettings: [.linkedLibrary("hiredis", .when(traits: ["Redis"]))]),
        .executableTarget(
            name: "runloop-bench",
            dependencies: [
                "CYardsticks", "CAllocationCounter", "CThreadControl", "CLoad", "CWeb",
                .target(name: "CRedisLoad", condition: .when(traits: ["Redis"])),
                .product(
                    name: "RedisNotifications", package: "swift-run-loops",
                    condition: .when(traits: ["Redis"])),
                .product(name: "DistributedNotifications", package: "swift-run-loops"),
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsNIO", package: "swift-run-loops"),
                .product(name: "MessagePorts", package: "swift-run-loops"),
                .product(name: "Inspection", package: "swift-run-loops"),
                .product(name: "Notifications", package: "swift-run-loops"),
                .product(name: "Streams", package: "swift-run-loops"),
                .product(name: "HTTPClients", package: "swift-run-loops"),
                .product(name: "HTTPServers", package: "swift-run-loops"),
                .product(name: "FoundationRunLoops", package: "swift-run-loops"),
                .product(name: "TLSStreams", package: "swift-run-loops"),
                .product(name: "ArgumentParser", package: "swift-argument-parser"),
                .product(name: "Histogram", package: "hdrhistogram-swift"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
            ],
            swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
