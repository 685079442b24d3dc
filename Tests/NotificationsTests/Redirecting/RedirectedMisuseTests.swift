import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Notifications

/// Misuse of observers on loops ends the program with a message.
@Suite struct RedirectedMisuseTests {
    @Test func `a limit is at least 1`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = NotificationCenter.Capacity.bounded(0, .dropNewest)
        }
        #expect(result?.message.contains("Capacity.bounded: 0 lets nothing wait; use at least 1") == true)
    }

    @Test func `an observer on a loop needs at least one mode`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                _ = NotificationCenter().addObserver(forName: .a, on: loop, inModes: []) { _ in }
            }
        }
        #expect(
            result?.message.contains(
                "NotificationCenter.addObserver: no mode, so the handler would never be called; use [.common]"
            ) == true)
    }

    @Test func `a handler that is confined to a thread is registered on that thread`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let target = try RunLoopThread(name: "target")
            _ = target.runLoop.addObserver(forName: .a, in: NotificationCenter()) { _ in }
        }
        let message = result?.message ?? ""
        #expect(message.contains("RunLoop.addObserver: called outside the loop's own thread"))
        #expect(message.contains("use NotificationCenter.addObserver(forName:object:on:)"))
    }

    @Test func `waiting inside the observation's own handler is misuse, also from a run inside it`() async {
        let direct = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                let tokens = Log<ObservationToken>()
                tokens.add(
                    loop.addObserver(forName: .a, in: .default) { _ in
                        for token in tokens.entries { token.removeAndWait() }
                    })
                NotificationCenter.default.post(name: .a)
            }
        }
        let nested = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                let tokens = Log<ObservationToken>()
                tokens.add(
                    loop.addObserver(forName: .a, in: .default) { _ in
                        loop.perform { for token in tokens.entries { token.removeAndWait() } }
                        loop.run(in: .default)
                    })
                NotificationCenter.default.post(name: .a)
            }
        }
        for result in [direct, nested] {
            let message = result?.message ?? ""
            #expect(
                message.contains("ObservationToken.removeAndWait: called from the observation's own handler"))
            #expect(message.contains("call remove()"))
        }
    }
}
