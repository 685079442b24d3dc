// swift-tools-version: 6.2
import PackageDescription

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
if Context.environment["CI"] != nil { settings.append(.treatAllWarnings(as: .error)) }

// A package of its own, which enables the traits `HTTPServers` and `NIO` as a user does. The package under test is built and tested
// without SwiftNIO.
let package = Package(
    name: "nio-tests",
    dependencies: [
        .package(name: "swift-run-loops", path: "../..", traits: ["HTTPServers", "NIO"]),
        .package(url: "https://github.com/apple/swift-nio", from: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2", from: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl", from: "2.37.6"),
    ],
    targets: [
        // What .ci/fuzz-http sends its inputs to.
        .executableTarget(
            name: "RecordingServer",
            dependencies: [
                .product(name: "HTTPServers", package: "swift-run-loops"),
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "Streams", package: "swift-run-loops"),
            ],
            path: "RecordingServer", swiftSettings: settings),
        .testTarget(
            name: "RunLoopsNIOTests",
            dependencies: [
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsNIO", package: "swift-run-loops"),
                .product(name: "Streams", package: "swift-run-loops"),
                .product(name: "TLSStreams", package: "swift-run-loops"),
                .product(name: "NIOCore", package: "swift-nio"),
                .product(name: "NIOConcurrencyHelpers", package: "swift-nio"),
                .product(name: "NIOHTTP1", package: "swift-nio"),
                .product(name: "NIOPosix", package: "swift-nio"),
                .product(name: "NIOWebSocket", package: "swift-nio"),
                .product(name: "NIOHTTP2", package: "swift-nio-http2"),
                .product(name: "NIOSSL", package: "swift-nio-ssl"),
            ],
            path: "RunLoopsNIOTests", swiftSettings: settings),
        // The helpers of the package's own tests, whose folders are linked here.
        .target(name: "CAllocations", path: "CAllocations"),
        .target(name: "CForking", path: "CForking"),
        .target(name: "CFaults", path: "CFaults"),
        .target(
            name: "TestSupport",
            dependencies: [
                "CAllocations", "CForking", "CFaults",
                .product(name: "RunLoops", package: "swift-run-loops"),
            ], path: "TestSupport", swiftSettings: settings),
        .target(
            name: "TestExpectations",
            dependencies: ["TestSupport", .product(name: "RunLoops", package: "swift-run-loops")],
            path: "TestExpectations", swiftSettings: settings),
        .testTarget(
            name: "HTTPServersTests",
            dependencies: [
                "TestSupport", "TestExpectations",
                .product(name: "HTTPServers", package: "swift-run-loops"),
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "Streams", package: "swift-run-loops"),
                .product(name: "TLSStreams", package: "swift-run-loops"),
                .product(name: "NIOCore", package: "swift-nio"),
            ],
            path: "HTTPServersTests", swiftSettings: settings),
    ],
    swiftLanguageModes: [.v6]
)
