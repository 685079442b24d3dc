// swift-tools-version: 6.2
import PackageDescription

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
if Context.environment["CI"] != nil { settings.append(.treatAllWarnings(as: .error)) }

/// A product of the package under test.
func product(_ name: String) -> Target.Dependency { .product(name: name, package: "swift-run-loops") }

// A package of its own, which enables the traits as a user does. The package under test is built and tested without the packages
// that the traits need.
let package = Package(
    name: "add-ons",
    dependencies: [
        .package(
            name: "swift-run-loops", path: "../..", traits: ["Lifecycle", "Logging", "Metrics", "Tracing"]),
        .package(url: "https://github.com/apple/swift-distributed-tracing", from: "1.7.3"),
        .package(url: "https://github.com/apple/swift-log", from: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics", from: "2.13.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.13.0"),
    ],
    targets: [
        .testTarget(
            name: "AddOnTests",
            dependencies: [
                product("FoundationRunLoops"), product("Inspection"), product("MessagePorts"),
                product("RunLoops"),
                product("RunLoopsLifecycle"), product("RunLoopsLogging"), product("RunLoopsMetrics"),
                product("RunLoopsTracing"), product("Streams"),
                .product(name: "CoreMetrics", package: "swift-metrics"),
                .product(name: "InMemoryLogging", package: "swift-log"),
                .product(name: "InMemoryTracing", package: "swift-distributed-tracing"),
                .product(name: "Logging", package: "swift-log"),
                .product(name: "Metrics", package: "swift-metrics"),
                .product(name: "MetricsTestKit", package: "swift-metrics"),
                .product(name: "ServiceLifecycle", package: "swift-service-lifecycle"),
                .product(name: "ServiceLifecycleTestKit", package: "swift-service-lifecycle"),
                .product(name: "Tracing", package: "swift-distributed-tracing"),
                .product(name: "UnixSignals", package: "swift-service-lifecycle"),
            ],
            path: "AddOnTests", swiftSettings: settings)
    ],
    swiftLanguageModes: [.v6]
)
