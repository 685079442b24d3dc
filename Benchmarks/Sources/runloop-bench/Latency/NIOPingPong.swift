internal import NIOCore

/// Isolates waking a sleeping SwiftNIO event loop with `execute`.
///
/// Read the ratio of our `perform` to it.
final class NIOPingPong: PingPong {
    private let near = NIOLoop()
    private let far = NIOLoop()
    private let rally: Rally

    init(rally: Rally) { self.rally = rally }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.loop.execute { [near, far, rally] in
            rally.begin()
            Self.ping(near.loop, far.loop, rally)
        }
    }

    private static func ping(_ near: any EventLoop, _ far: any EventLoop, _ rally: Rally) {
        far.execute {
            near.execute {
                if rally.returned() { ping(near, far, rally) }
            }
        }
    }
}
