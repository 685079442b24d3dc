import Notifications
import RunLoops
import TestSupport
import Testing

extension Notification.Name {
    static let didConnect = Notification.Name("com.example.didConnect")
}

/// The code of the landing page.
@Suite struct OverviewSnippets {
    @Test func `the post returns and the observer is called on its thread`() throws {
        let print = Printed()
        let screen = try RunLoopThread(name: "screen")
        let token = NotificationCenter.default.addObserver(forName: .didConnect, on: screen.runLoop) { note in
            print(RunLoop.current.name, "shows", note.userInfo["host"] ?? "nothing")
        }
        NotificationCenter.default.post(name: .didConnect, userInfo: ["host": "example.com"])
        try screen.runLoop.performAndWait { print("what was posted before has been shown") }
        token.remove()
        screen.stop()
        #expect(print.lines == ["screen shows example.com", "what was posted before has been shown"])
    }
}
