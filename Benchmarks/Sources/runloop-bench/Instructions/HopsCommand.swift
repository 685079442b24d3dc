internal import ArgumentParser
internal import Dispatch
internal import RunLoops

/// Goes to and fro between two loops that sleep, or sleeps until a timer is due, so often and no more: what `.ci/instructions`
/// counts the instructions of.
struct HopsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "hops", shouldDisplay: false)

    enum Way: String, ExpressibleByArgument, CaseIterable { case perform, port, timer }

    @Argument(help: "What is sent, or a timer that makes the next.")
    var way: Way

    @Argument(help: "How many hops.")
    var count: Int

    func run() throws {
        let near = try RunLoopThread(name: "near")
        let far = try RunLoopThread(name: "far")
        for thread in [near, far] {
            try thread.runLoop.performAndWait { RunLoop.current.waitPolicy = .park }
        }
        let isOver = DispatchSemaphore(value: 0)
        switch way {
        case .perform: Self.hop(count, from: near.runLoop, to: far.runLoop, isOver)
        case .port:
            let (toNear, toFar) = (Port<Int>(), Port<Int>())
            try Self.relay(toNear, on: near.runLoop, to: toFar, isOver)
            try Self.relay(toFar, on: far.runLoop, to: toNear, isOver)
            try toFar.send(count)
        case .timer: near.runLoop.perform { Self.sleep(count, isOver) }
        }
        isOver.wait()
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

    private static func sleep(_ rest: Int, _ isOver: DispatchSemaphore) {
        Timer.scheduledTimer(withTimeInterval: .microseconds(100), repeats: false) { _ in
            if rest == 1 { isOver.signal() } else { sleep(rest - 1, isOver) }
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
