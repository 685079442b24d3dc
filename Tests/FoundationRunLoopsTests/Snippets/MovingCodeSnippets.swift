import Foundation
import FoundationRunLoops
import TestSupport
import Testing

/// The code of the article "Moving code from Apple platforms".
@Suite struct MovingCodeSnippets {
    @Test @MainActor func `the example before and after`() {
        let shown = Printed()
        let (before, after) = (PriceBefore(), Price())
        for value in [1.5, 2.5] {
            NotificationCenter.default.post(name: .didQuote, object: nil, userInfo: ["price": value])
        }
        shown("\(before.price) \(after.price)")
        #expect(shown.lines == ["2.5 2.5"])
        before.stop()
        after.stop()
    }

    @Test func `a bridge serves this package's timers while a process is awaited`() throws {
        try onLoopThread { _ in
            let tool = URL(filePath: "/bin/true")
            let shown = Shared()
            func showProgress() { shown.increment() }
            let bridge = try RunLoopBridge()
            let timer = Timer.scheduledTimer(withTimeInterval: 0.01, repeats: true) { _ in showProgress() }
            let process = try Process.run(tool, arguments: [])
            process.waitUntilExit()
            timer.invalidate()
            bridge.invalidate()
            #expect(process.terminationStatus == 0)
        }
    }

    @Test func `both loops on one thread`() throws {
        try onLoopThread { _ in
            let ours = RunLoop.current
            let theirs = Foundation.RunLoop.current
            theirs.run(until: .distantPast)
            ours.run(until: Date.distantPast)
        }
    }
}

extension Notification.Name {
    static let didQuote = Notification.Name("didQuote")
}

@MainActor final class PriceBefore {
    private(set) var price = 0.0
    private var token: (any NSObjectProtocol)?
    private var timer: Timer?

    init() {
        token = NotificationCenter.default.addObserver(
            forName: .didQuote, object: nil, queue: .main
        ) { [weak self] note in
            let price = note.userInfo?["price"] as? Double
            MainActor.assumeIsolated { self?.price = price ?? 0 }
        }
        timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] _ in
            MainActor.assumeIsolated { self?.refresh() }
        }
    }

    func refresh() { print(price) }

    func stop() {
        timer?.invalidate()
        token.map(NotificationCenter.default.removeObserver)
    }
}

@MainActor final class Price {
    private(set) var price = 0.0
    private var token: (any NSObjectProtocol)?
    private var timer: Timer?

    init() {
        token = NotificationCenter.default.addObserver(
            forName: .didQuote, object: nil, queue: .main
        ) { [weak self] note in
            self?.price = note.userInfo?["price"] as? Double ?? 0
        }
        timer = Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { [weak self] _ in
            self?.refresh()
        }
    }

    func refresh() { print(price) }

    func stop() {
        timer?.invalidate()
        token.map(NotificationCenter.default.removeObserver)
    }
}
