import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Notifications

/// Removals that wait for a handler, while the handler waits for the removing thread.
@Suite struct RemovalCircleTests {
    @Test func `the wait of a handler for the thread that removes it fails, whichever comes first`() throws {
        let center = NotificationCenter()
        let poster = try RunLoopThread(name: "poster")
        try onLoopThread { loop in
            for _ in 0..<200 {
                let isRunning = Gate()
                let circles = Log<WaitCircle?>()
                let token = center.addObserver(forName: .a) { _ in
                    isRunning.open()
                    circles.add(circle { try loop.performAndWait {} })
                }
                poster.runLoop.perform { center.post(name: .a) }
                #expect(isRunning.wait())
                token.removeAndWait()
                let waits = circles.entries.first??.waits
                #expect(
                    waits?.map(\.operation) == ["RunLoop.performAndWait", "ObservationToken.removeAndWait"])
                #expect(waits?.map(\.loop) == [poster.runLoop, loop])
            }
        }
        poster.stop()
    }

    @Test func `the wait of a handler on a loop for the thread that removes it fails`() throws {
        let center = NotificationCenter()
        let target = try RunLoopThread(name: "target")
        try onLoopThread { loop in
            let isRunning = Gate()
            let circles = Log<WaitCircle?>()
            let token = center.addObserver(forName: .a, on: target.runLoop) { _ in
                isRunning.open()
                circles.add(circle { try loop.performAndWait {} })
            }
            center.post(name: .a)
            #expect(isRunning.wait())
            token.removeAndWait()
            #expect(circles.entries.first??.waits.count == 2)
        }
        target.stop()
    }

    @Test func `a poster without a loop is part of the circle through its call`() throws {
        let center = NotificationCenter()
        try onLoopThread { loop in
            let isRunning = Gate()
            let circles = Log<WaitCircle?>()
            let token = center.addObserver(forName: .a) { _ in
                isRunning.open()
                circles.add(circle { try loop.performAndWait {} })
            }
            let poster = try BareThread { center.post(name: .a) }
            #expect(isRunning.wait())
            token.removeAndWait()
            poster.join()
            #expect(circles.entries.first??.waits.map(\.loop) == [nil, loop])
            #expect(
                circles.entries.first??.description.contains("a thread without run loop waits in") == true)
        }
    }

    @Test func `two handlers that wait for each other's end end the program, with their names`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            let center = NotificationCenter()
            let tokens = Log<ObservationToken>()
            let (arrived, names) = (Shared(), [Notification.Name.a, .b])
            for number in 0..<2 {
                tokens.add(
                    center.addObserver(forName: names[number]) { _ in
                        arrived.increment()
                        while arrived.count < 2 {}
                        tokens.entries[1 - number].removeAndWait()
                    })
            }
            let threads = try Threads(2) { number in center.post(name: names[number]) }
            try threads.join()
        }
        let message = result?.message ?? ""
        #expect(message.contains("ObservationToken.removeAndWait: it would never return, because run loop "))
        #expect(message.contains("waits in ObservationToken.removeAndWait (NotificationsTests/"))
        #expect(message.contains("; call remove()"))
    }
}
