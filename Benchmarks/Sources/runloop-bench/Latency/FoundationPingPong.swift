/// Isolates waking a sleeping Foundation run loop with a block: `perform`, then `CFRunLoopWakeUp`.
///
/// Read the ratio of our `perform` to it.
final class FoundationPingPong: PingPong {
    private let near = FoundationLoop()
    private let far = FoundationLoop()
    private let rally: Rally

    init(rally: Rally) { self.rally = rally }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.perform { [near, far, rally] in
            rally.begin()
            Self.ping(near, far, rally)
        }
    }

    private static func ping(_ near: FoundationLoop, _ far: FoundationLoop, _ rally: Rally) {
        far.perform {
            near.perform {
                if rally.returned() { ping(near, far, rally) }
            }
        }
    }
}
