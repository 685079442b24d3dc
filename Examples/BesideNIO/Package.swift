// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that the other examples need neither SwiftNIO nor Hummingbird.
var settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

// A warning that a new compiler adds fails the build only in CI.
if Context.environment["CI"] != nil { settings.append(.treatAllWarnings(as: .error)) }

let package = Package(
    name: "beside-nio",
    products: [
        .executable(name: "hummingbird-notes", targets: ["hummingbird-notes"]),
        .executable(name: "hummingbird-on-a-loop", targets: ["hummingbird-on-a-loop"]),
    ],
    dependencies: [
        .package(name: "swift-run-loops", path: "../..", traits: ["Lifecycle", "NIO"]),
        .package(name: "run-loop-examples", path: ".."),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.28.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-nio-extras", from: "1.34.1"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .executableTarget(
            name: "hummingbird-notes",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NoteStorage", package: "run-loop-examples"),
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsLifecycle", package: "swift-run-loops"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: settings),
        .executableTarget(
            name: "hummingbird-on-a-loop",
            dependencies: [
                .product(name: "Hummingbird", package: "hummingbird"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "NIOExtras", package: "swift-nio-extras"),
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsNIO", package: "swift-run-loops"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
            ], swiftSettings: settings),
        .testTarget(
            name: "BesideNIOTests", dependencies: ["hummingbird-notes", "hummingbird-on-a-loop"],
            swiftSettings: settings),
    ])
