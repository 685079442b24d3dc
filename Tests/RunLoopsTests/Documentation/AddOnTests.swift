import TestSupport
import Testing

/// The pages of the add-ons, and the modules of the add-ons without their traits.
///
/// The tests of the add-ons themselves are in a package of their own.
@Suite struct AddOnTests {
    private static let modules = [
        "RunLoopsLifecycle", "RunLoopsLogging", "RunLoopsMetrics", "RunLoopsNIO", "RunLoopsOpenCombine",
        "RunLoopsTracing",
    ]

    /// The example of the article "Beside SwiftNIO", and the tests of RunLoopsNIO and RunLoopsOpenCombine, which are packages of
    /// their own.
    private static let examples = [
        "Examples/BesideNIO/Sources", "Examples/Sources/NoteStorage", "Tests/NIO/RunLoopsNIOTests/Snippets",
        "Tests/Combine/Tests/Snippets",
    ]

    private static func pages() throws -> [String] {
        try modules.flatMap { try Documentation.articles(of: $0) }
    }

    @Test(arguments: try pages())
    func `every block of Swift stands in code that compiles`(page: String) throws {
        for block in try Documentation.blocks(
            of: page, missingIn: "AddOns/AddOnTests", and: AddOnTests.examples)
        {
            Issue.record("\(page) has a block that no snippet has:\n\(block)")
        }
    }

    @Test(arguments: try pages())
    func `a block of code says which language it is in`(page: String) throws {
        #expect(try Documentation.strayMarkers(of: page).isEmpty)
    }

    @Test(arguments: try pages())
    func `every link to a file of the package leads to one`(page: String) throws {
        #expect(try Documentation.brokenLinks(of: page).isEmpty)
    }

    @Test(
        .enabled(if: TypeChecker.isAvailable),
        arguments: [
            ("Lifecycle", "func serve(_ service: ListenerService) {}"),
            ("Logging", "let log: Void = RunLoopDiagnostics.log(to: 1)"),
            ("Logging", "func watch() throws { _ = try RunLoopWatchdog(threshold: .seconds(1), logger: 1) }"),
            (
                "Logging",
                "func note(_ recorder: FlightRecorder) { recorder.logSlowHandlers(over: .seconds(1), to: 1) }"
            ),
            ("Metrics", "func measure(_ metrics: RunLoopMetrics) {}"),
            ("NIO", "func serve(_ eventLoop: RunLoopEventLoop) {}"),
            ("OpenCombine", "let scheduler = RunLoop.main.ocombine"),
            ("Tracing", "func trace() { RunLoop.current.perform(propagating: nil) {} }"),
        ])
    func `without its trait, a module says which trait it needs`(trait: String, code: String) throws {
        let errors = try TypeChecker.errors(in: "import RunLoops\nimport RunLoops\(trait)\n\(code)")
        #expect(errors.count == 1)
        #expect(errors.first?.contains("traits: [\"\(trait)\"]") == true, "\(errors)")
    }
}
