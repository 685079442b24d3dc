internal import NIOCore
internal import NIOPosix

/// A thread that runs one of SwiftNIO's event loops.
final class NIOLoop: Sendable {
    /// The loop, which takes blocks by `execute`.
    let loop: any EventLoop
    /// Its thread, for pinning.
    let number: ThreadNumber

    init() {
        // A group of one, so that the loop has a thread to itself. It lives as long as the program.
        loop = MultiThreadedEventLoopGroup(numberOfThreads: 1).next()
        guard let number = try? loop.submit({ ThreadNumber.current }).wait() else {
            fatalError("NIOLoop.init: a loop that was just made runs what is submitted")
        }
        self.number = number
    }
}
