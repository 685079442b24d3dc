internal import Dispatch
internal import RunLoops

/// Hops between two loops that sleep.
struct HopCosts {
    private let near: RunLoopThread
    private let far: RunLoopThread
    private let isOver = DispatchSemaphore(value: 0)

    init() throws {
        near = try RunLoopThread(name: "near")
        far = try RunLoopThread(name: "far")
        for thread in [near, far] { _ = try thread.prepare(.park) }
    }

    /// Performs `count` blocks, each of which performs the next one on the other loop.
    func perform(_ count: Int) throws {
        Self.hop(count, from: near.runLoop, to: far.runLoop, isOver)
        try end()
    }

    /// Sends `count` messages, the handler of each of which sends the next one to the other loop.
    func send(_ count: Int) throws {
        let (toNear, toFar) = (Port<Int>(), Port<Int>())
        try Self.relay(toNear, on: near.runLoop, to: toFar, isOver)
        try Self.relay(toFar, on: far.runLoop, to: toNear, isOver)
        try toFar.send(count)
        try end()
    }

    private func end() throws {
        try isOver.waitForEnd()
        for thread in [near, far] {
            thread.stop()
            thread.join()
        }
    }

    private static func hop(
        _ rest: Int, from: RunLoop, to: RunLoop, _ isOver: DispatchSemaphore
    ) {
        to.perform {
            if rest == 1 { isOver.signal() } else { hop(rest - 1, from: to, to: from, isOver) }
        }
    }

    private static func relay(
        _ port: Port<Int>, on loop: RunLoop, to other: Port<Int>, _ isOver: DispatchSemaphore
    ) throws {
        try loop.performAndWait {
            RunLoop.current.add(port, forMode: .default) { rest in
                if rest == 1 { return _ = isOver.signal() }
                do { try other.send(rest - 1) } catch { fatalError("\(error)") }
            }
        }
    }
}
