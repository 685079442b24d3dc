internal import ArgumentParser
internal import CThreadControl
internal import CYardsticks
internal import Glibc
internal import MessagePorts
internal import RunLoops

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
        let served = try MessagePort(named: PortName(port))
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
        served.onPeerEnd { _, _ in RunLoop.current.stop() }
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
