// swift-tools-version: 6.2
import PackageDescription

// A separate package, so that nothing else fetches gRPC.
var settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

// A warning that a new compiler adds fails the build only in CI.
if Context.environment["CI"] != nil { settings.append(.treatAllWarnings(as: .error)) }

let package = Package(
    name: "grpc-on-a-run-loop",
    dependencies: [
        .package(name: "swift-run-loops", path: "../..", traits: ["NIO"]),
        .package(url: "https://github.com/grpc/grpc-swift-2", from: "2.4.3"),
        .package(url: "https://github.com/grpc/grpc-swift-nio-transport", from: "2.9.2"),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
    ],
    targets: [
        .executableTarget(
            name: "grpc-echo",
            dependencies: [
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCNIOTransportHTTP2", package: "grpc-swift-nio-transport"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsNIO", package: "swift-run-loops"),
            ], swiftSettings: settings),
        .testTarget(
            name: "GRPCTests",
            dependencies: [
                "grpc-echo",
                .product(name: "GRPCCore", package: "grpc-swift-2"),
                .product(name: "GRPCNIOTransportHTTP2", package: "grpc-swift-nio-transport"),
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsNIO", package: "swift-run-loops"),
            ], swiftSettings: settings),
    ])
