// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that the tests of RunLoops need no libcurl, no hiredis, no Redis and no GLib.
let package = Package(
    name: "libraries",
    dependencies: [.package(name: "swift-run-loops", path: "../..")],
    targets: [
        .systemLibrary(
            name: "CCurl", path: "CCurl", pkgConfig: "libcurl", providers: [.apt(["libcurl4-openssl-dev"])]),
        .systemLibrary(
            name: "CGLib", path: "CGLib", pkgConfig: "glib-2.0", providers: [.apt(["libglib2.0-dev"])]),
        // Without pkg-config, because SwiftPM refuses the flags of libhiredis.
        .systemLibrary(name: "CHiredis", path: "CHiredis", providers: [.apt(["libhiredis-dev"])]),
        .testTarget(
            name: "LibraryTests",
            dependencies: [
                "CCurl", "CGLib", "CHiredis", .product(name: "RunLoops", package: "swift-run-loops"),
            ],
            path: "LibraryTests"),
    ],
    swiftLanguageModes: [.v6]
)
