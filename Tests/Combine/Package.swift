// swift-tools-version: 6.2
import PackageDescription

var settings: [SwiftSetting] = [
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
]
if Context.environment["CI"] != nil { settings.append(.treatAllWarnings(as: .error)) }

// A package of its own, which enables the trait as a user does.
let package = Package(
    name: "open-combine-tests",
    dependencies: [
        .package(name: "swift-run-loops", path: "../..", traits: ["OpenCombine"]),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .testTarget(
            name: "RunLoopsOpenCombineTests",
            dependencies: [
                .product(name: "FoundationRunLoops", package: "swift-run-loops"),
                .product(name: "RunLoops", package: "swift-run-loops"),
                .product(name: "RunLoopsOpenCombine", package: "swift-run-loops"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ],
            path: "Tests", swiftSettings: settings)
    ],
    swiftLanguageModes: [.v6]
)
