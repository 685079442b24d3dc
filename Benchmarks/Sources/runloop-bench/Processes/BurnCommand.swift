internal import ArgumentParser
internal import CThreadControl
internal import Glibc

/// A process that wants a processor all the time; the measurements start it, and you need not.
struct BurnCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "burn", shouldDisplay: false)

    func run() throws {
        // Readable when the process that has started this one closes the other end, or ends.
        var end = pollfd(fd: OtherProcess.descriptor, events: Int16(POLLIN), revents: 0)
        while poll(&end, 1, 0) == 0 {
            let next = bench_now() + 1_000_000
            while bench_now() < next { bench_pause() }
        }
    }
}
