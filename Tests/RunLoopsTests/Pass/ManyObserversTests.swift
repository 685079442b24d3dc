import Glibc
import RunLoops
import TestSupport
import Testing

/// A large number of observers in one loop.
@Suite struct ManyObserversTests {
    /// The orders of many observers.
    enum Orders: CaseIterable {
        case equal, mixed

        func order(_ number: Int, of count: Int) -> Int {
            switch self {
            case .equal: 0
            case .mixed: number * 7_919 % count
            }
        }
    }

    @Test(arguments: Orders.allCases)
    func `a hundred thousand observers that do not repeat are nothing unusual`(orders: Orders) throws {
        let count = 100_000
        try onLoopThread { loop in
            loop.add(Port<Int>(), forMode: .default) { _ in }
            var calls = 0
            var last = Int.min
            var isInOrder = true
            for number in 0..<count {
                let order = orders.order(number, of: count)
                let observer = RunLoop.Observer(activities: .entry, repeats: false, order: order) { _, _ in
                    calls += 1
                    if order < last { isInOrder = false }
                    last = order
                }
                loop.add(observer, forMode: .default)
            }
            loop.run(until: .distantPast)
            #expect(calls == count)
            #expect(isInOrder)
            loop.run(until: .distantPast)
            #expect(calls == count)
        }
    }

    @Test func `a loop lets go of a hundred thousand observers when its thread ends`() throws {
        let alive = Shared()
        let allIn = Gate()
        let mayEnd = Gate()
        try RunLoopThread.detach(name: "observed") { loop in
            for _ in 0..<100_000 {
                let counted = Counted(alive)
                loop.add(
                    RunLoop.Observer(activities: .exit) { _, _ in withExtendedLifetime(counted) {} },
                    forMode: .default)
            }
            allIn.open()
            #expect(mayEnd.wait())
        }
        #expect(allIn.wait())
        #expect(alive.count == 100_000)
        mayEnd.open()
        let end = ContinuousClock.Instant.hang
        while alive.count > 0 && ContinuousClock.now < end { sched_yield() }
        #expect(alive.count == 0)
    }
}
