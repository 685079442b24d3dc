internal import ArgumentParser
internal import CThreadControl
internal import CYardsticks
internal import Dispatch
internal import Glibc
internal import MessagePorts
internal import RunLoops

/// Makes an exact number of hops between two sleeping loops, or of sleeps until a timer is due.
///
/// `.ci/instructions` counts the instructions of this command.
struct HopsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "hops", shouldDisplay: false)

    enum Way: String, ExpressibleByArgument, CaseIterable { case perform, port, timer }

    @Argument(help: "The way to the other loop, or a timer that sets the next one.")
    var way: Way

    @Argument(help: "The number of hops.")
    var count: Int

    func run() throws {
        let near = try RunLoopThread(name: "near")
        let far = try RunLoopThread(name: "far")
        for thread in [near, far] {
            _ = try thread.prepare(.park)
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

/// The process at the other end of a measurement between processes, which the measurement starts.
struct ServePacketsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve-packets", shouldDisplay: false)

    @Option(
        help: "The name of the port to serve. Without it, the command serves bare packets on descriptor 3.")
    var port: String?

    @Flag(help: "Wait for bare packets in an epoll.")
    var watches = false

    func run() throws {
        guard let port else {
            let epoll = watches ? bench_watch(ChildProcess.descriptor) : -1
            return bench_packets_serve(ChildProcess.descriptor, epoll)
        }
        RunLoop.current.waitPolicy = .park
        let served = try MessagePort(name: PortName(port))
        var count = 0
        var answer = [UInt8](repeating: 0, count: 64)
        try RunLoop.current.add(served, forMode: .default) { message in
            count += 1
            if !message.isRequest { return }
            answer.withUnsafeMutableBytes { $0.storeBytes(of: count, as: Int.self) }
            count = 0
            // An error means that the peer has ended, and then this process ends, too.
            do { try message.reply(answer) } catch {}
        }
        served.onPeerEnd { _ in RunLoop.current.stop() }
        RunLoop.current.run()
    }
}

/// A process that is always busy, which a measurement starts.
struct BurnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "burn", shouldDisplay: false)

    func run() throws {
        // The descriptor becomes readable when the parent process closes the other end, or ends.
        var end = pollfd(fd: ChildProcess.descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&end, 1, 0) == 0 {
            let next = bench_now() + 1_000_000
            while bench_now() < next { bench_pause() }
        }
    }
}
