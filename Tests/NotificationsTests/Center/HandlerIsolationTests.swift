import TestSupport
import Testing

/// The compiler rejects a handler that needs an actor's isolation and would run on the posting thread.
@Suite struct HandlerIsolationTests {
    /// A way to register a handler, and the expectation that it compiles or is rejected.
    struct Registration: Sendable, CustomTestStringConvertible {
        let code: String
        let isRefused: Bool
        var testDescription: String { code }
    }

    static let registrations = [
        Registration(code: "center.addObserver(screen, name: nil) { $0.show($1) }", isRefused: false),
        Registration(code: "center.addObserver(screen, name: nil) { $0.showOnMain($1) }", isRefused: true),
        Registration(
            code: "center.addObserver(screen, name: nil, using: Screen.showOnMain)", isRefused: true),
        Registration(code: "center.addObserver(screen, name: nil, using: Screen.show)", isRefused: true),
        Registration(code: "center.addObserver(screen, name: nil, using: showOnMain)", isRefused: true),
        Registration(
            code: "center.addObserver(screen, name: nil) { @MainActor in $0.showOnMain($1) }", isRefused: true
        ),
        Registration(
            code: "_ = center.addObserver(forName: nil, using: screen.showOnMain)", isRefused: true),
        Registration(
            code: "_ = center.addObserver(forName: nil, on: .main, using: screen.showOnMain)", isRefused: true
        ),
        Registration(
            code: "_ = center.addObserver(for: Message.self, using: screen.receiveOnMain)", isRefused: true),
        Registration(code: "loop.perform(screen.workOnMain)", isRefused: true),
    ]

    @Test(.enabled(if: TypeChecker.isAvailable), arguments: registrations)
    func `the compiler rejects a handler that is isolated to an actor`(registration: Registration)
        throws
    {
        let errors = try TypeChecker.errors(
            in: """
                import Notifications
                import RunLoops
                final class Message: NotificationMessage { typealias Subject = Screen }
                final class Screen: Sendable {
                    func show(_ note: Notification) {}
                    @MainActor func showOnMain(_ note: Notification) {}
                    @MainActor func receiveOnMain(_ message: Message) {}
                    @MainActor func workOnMain() {}
                }
                @MainActor func showOnMain(_ screen: Screen, _ note: Notification) {}
                func register(_ center: NotificationCenter, _ screen: Screen, _ loop: RunLoop) {
                    \(registration.code)
                }
                """)
        #expect(errors.isEmpty != registration.isRefused, "\(errors)")
        // The code is rejected for this reason, and not for another.
        for error in errors {
            #expect(
                error.contains("main actor-isolated") || error.contains("loses global actor")
                    || error.contains("cannot convert value of type '@Sendable (Screen) ->"), "\(error)")
        }
    }
}
