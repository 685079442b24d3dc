internal import Foundation

/// The compiler, which reports its errors in code that uses the modules of the package.
public enum TypeChecker {
    private static let products = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent()

    /// True if the compiler can be started, and can read the modules.
    public static let isAvailable =
        Child(shell: "command -v swiftc > /dev/null").wait() == .exited(0)
        && FileManager.default.fileExists(atPath: "\(products.path)/Modules/Notifications.swiftmodule")

    /// Returns the compiler's errors in a piece of code.
    ///
    /// - Parameter code: The code, in the language mode of Swift 6.
    /// - Returns: One line for each error; empty if the code compiles.
    /// - Throws: An error if a file cannot be written or read.
    public static func errors(in code: String) throws -> [String] {
        let directory = try ScratchDirectory()
        defer {
            do { try directory.remove() } catch { fatalError("\(directory.path): \(error)") }
        }
        let source = directory.path + "/code.swift"
        let output = directory.path + "/output"
        try code.write(toFile: source, atomically: false, encoding: .utf8)
        let targets = ["CRunLoops", "CFoundationLoops"]
        let modules = targets.map {
            "-I '\(Documentation.root)Sources/\($0)/include' "
                + "-Xcc '-fmodule-map-file=\(products.path)/\($0).build/module.modulemap'"
        }
        let command = """
            swiftc -typecheck -swift-version 6 -diagnostic-style llvm -module-cache-path '\(directory.path)/cache' \
            -I '\(products.path)/Modules' -I '\(Documentation.root)CLibEvent' \
            \(modules.joined(separator: " ")) '\(source)' > '\(output)' 2>&1
            """
        Child(shell: command).wait()
        return try String(contentsOfFile: output, encoding: .utf8).components(separatedBy: "\n")
            .filter { $0.contains("error:") }
    }
}
