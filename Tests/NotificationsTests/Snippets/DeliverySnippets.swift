import Notifications
import RunLoops
import TestSupport
import Testing

/// The lines that methods of a class print: a class in a function cannot use the function's variables.
private let print = Printed()

/// The code of the articles about delivery: "Delivery", "Ending observations" and "Observing on loops".
@Suite struct DeliverySnippets {
    @Test func `observers are called in order before the post returns`() {
        let print = Printed()
        let center = NotificationCenter()
        let every = center.addObserver(forName: nil) { note in print("first:", note.name.rawValue) }
        let one = center.addObserver(forName: .didConnect) { _ in print("second") }
        center.post(name: .didConnect)
        print("the post has returned")
        every.remove()
        one.remove()
        #expect(print.lines == ["first: com.example.didConnect", "second", "the post has returned"])
    }

    @Test func `an object observes until it is removed`() {
        let center = NotificationCenter()
        final class Screen: Sendable {
            func showConnection(_ note: Notification) { print("connected") }
        }

        let screen = Screen()
        center.addObserver(screen, name: .didConnect) { screen, note in screen.showConnection(note) }
        center.post(name: .didConnect)
        center.removeObserver(screen)
        center.post(name: .didConnect)
        #expect(print.lines == ["connected"])
    }

    @MainActor @Test func `a method of the main actor is called on the main loop`() {
        let center = NotificationCenter()
        @MainActor final class Window {
            func showConnection(_ note: Notification) {}
        }
        let window = Window()
        let token = center.addObserver(forName: .didConnect, on: .main) { note in
            MainActor.assumeIsolated { window.showConnection(note) }
        }
        token.remove()
    }

    @Test func `the tokens in a bag end with its owner`() {
        let center = NotificationCenter()
        final class Monitor: Sendable {
            private let observations = ObservationBag()
            func start(_ center: NotificationCenter) {
                observations.add(center.addObserver(forName: .didConnect) { _ in print("connected") })
            }
        }

        let monitor = Monitor()
        monitor.start(center)
        withExtendedLifetime(monitor) {}
    }

    @Test func `a bag that is emptied at the end of its scope lasts until there`() {
        let print = Printed()
        let center = NotificationCenter()
        do {
            let observations = ObservationBag()
            defer { observations.removeAll() }
            observations.add(center.addObserver(forName: .didConnect) { _ in print("connected") })
            center.post(name: .didConnect)
        }
        center.post(name: .didConnect)
        #expect(print.lines == ["connected"])
    }

    @Test func `a message reaches the observers of its subject`() {
        let print = Printed()
        let center = NotificationCenter()
        final class Feed: Sendable {}
        struct PriceChanged: NotificationMessage {
            typealias Subject = Feed
            let price: Int
        }

        let feed = Feed()
        let token = center.addObserver(of: feed, for: PriceChanged.self) { message in print(message.price) }
        center.post(PriceChanged(price: 7), subject: feed)
        center.post(PriceChanged(price: 8), subject: Feed())
        token.remove()
        #expect(print.lines == ["7"])
    }

    @Test func `a task awaits notifications, and reads the number that it has missed`() async throws {
        let print = Printed()
        let center = NotificationCenter()

        func follow(_ center: NotificationCenter) async {
            var notes = center.notifications(named: .didConnect, bufferingPolicy: .newest(64))
                .makeAsyncIterator()
            while let note = await notes.next() {
                print(note.userInfo["host"] ?? "nobody", "after", notes.droppedCount, "that were missed")
            }
        }

        let task = Task { await follow(center) }
        // A post before the task observes is missed. The posts slow down, so that the task can keep up.
        var pause = Duration.milliseconds(1)
        while print.lines.isEmpty {
            center.post(name: .didConnect, userInfo: ["host": "example.com"])
            try await Task.sleep(for: pause)
            pause += pause
        }
        task.cancel()
        await task.value
        #expect(print.lines.first == "example.com after 0 that were missed")
    }

    @Test func `an observer on a loop may hold objects that no other thread uses`() throws {
        let print = Printed()
        let center = NotificationCenter()
        let screen = try RunLoopThread(name: "screen")
        let token = try screen.runLoop.performAndWait {
            var connections = 0
            return RunLoop.current.addObserver(forName: .didConnect, in: center) { _ in
                connections += 1
                print("connection", connections)
            }
        }
        for _ in 1...2 { center.post(name: .didConnect) }
        try screen.runLoop.performAndWait {}
        print(token.statistics?.delivered ?? 0, "delivered")
        token.remove()
        screen.stop()
        #expect(print.lines == ["connection 1", "connection 2", "2 delivered"])
    }

    @Test func `a post can wait for observers on loops`() throws {
        let print = Printed()
        let center = NotificationCenter()
        let screen = try RunLoopThread(name: "screen")
        let token = center.addObserver(forName: .didConnect, on: screen.runLoop) { _ in print("shown") }
        // On a busy machine the deadline can pass. The test is about the order only.
        while print.lines.last != "it has been shown" {
            do {
                try center.postAndWait(Notification(name: .didConnect), before: .now + .seconds(1))
                print("it has been shown")
            } catch PerformError.Reason.timedOut {
                continue
            }
        }
        token.remove()
        screen.stop()
        #expect(print.lines.first == "shown")
    }

    @Test func `an observer on a loop that is full drops its oldest notification`() throws {
        let print = Printed()
        try onLoopThread { _ in
            let center = NotificationCenter()
            let poster = try RunLoopThread(name: "poster")
            let token = center.addObserver(
                forName: .didConnect, on: .current, capacity: .bounded(2, .dropOldest)
            ) { note in
                print("number", note.userInfo["number"] ?? 0)
            }
            try poster.runLoop.performAndWait {
                for number in 1...5 { center.post(name: .didConnect, userInfo: ["number": number]) }
            }
            RunLoop.current.run(until: .now)
            print(token.statistics?.dropped ?? 0, "dropped")
            poster.stop()
        }
        #expect(print.lines == ["number 4", "number 5", "3 dropped"])
    }
}
