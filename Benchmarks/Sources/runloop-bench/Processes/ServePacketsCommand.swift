internal import ArgumentParser
internal import CYardsticks
internal import RunLoops

/// The process at the other end of the measurements between processes; nobody calls it by hand.
struct ServePacketsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "serve-packets", shouldDisplay: false)

    @Option(help: "The name of the port that serves; else it is bare packets on descriptor 3.")
    var port: String?

    @Flag(help: "Whether bare packets are waited for in an epoll.")
    var watches = false

    func run() throws {
        guard let port else {
            let epoll = watches ? bench_packets_watch(OtherProcess.descriptor) : -1
            return bench_packets_serve(OtherProcess.descriptor, epoll)
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
            // Where it throws, the other end is gone, and so will this one be.
            do { try message.reply(answer) } catch {}
        }
        served.onPeerEnd { _ in RunLoop.current.stop() }
        RunLoop.current.run()
    }
}
