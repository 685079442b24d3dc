internal import RunLoops

/// Isolates waking one of our loops: with a typed port's message, or with `perform`.
///
/// Read the ratio to raw of the parked port first: it is what the loop adds to the kernel.
final class RunLoopPingPong: PingPong {
    private let near: RunLoopThread
    private let far: RunLoopThread
    private let nearPort = Port<Int>()
    private let farPort = Port<Int>()
    private let rally: Rally
    private let usesPorts: Bool
    private let numbers: (near: ThreadNumber, far: ThreadNumber)

    /// Starts both threads.
    ///
    /// - Parameters:
    ///   - policy: How both loops wait.
    ///   - usesPorts: Whether they send messages, or else perform blocks.
    ///   - rally: Who measures.
    /// - Throws: What the system said when it gave no thread or descriptor.
    init(policy: RunLoop.WaitPolicy, usesPorts: Bool, rally: Rally) throws {
        self.rally = rally
        self.usesPorts = usesPorts
        near = try RunLoopThread(name: "near")
        far = try RunLoopThread(name: "far")
        let (near, far) = (near.runLoop, far.runLoop)
        let (nearPort, farPort) = (nearPort, farPort)
        numbers.far = try far.performAndWait {
            RunLoop.current.waitPolicy = policy
            RunLoop.current.add(farPort, forMode: .default) { value in
                Self.send(value, to: nearPort, rally)
            }
            return ThreadNumber.current
        }
        numbers.near = try near.performAndWait {
            RunLoop.current.waitPolicy = policy
            RunLoop.current.add(nearPort, forMode: .default) { value in
                if rally.returned() { Self.send(value &+ 1, to: farPort, rally) }
            }
            return ThreadNumber.current
        }
    }

    var nearThreads: [ThreadNumber] { [numbers.near] }
    var farThreads: [ThreadNumber] { [numbers.far] }

    func start() {
        let (near, far) = (near.runLoop, far.runLoop)
        near.perform { [usesPorts, farPort, rally] in
            rally.begin()
            if usesPorts { Self.send(0, to: farPort, rally) } else { Self.ping(near, far, rally) }
        }
    }

    var spinHits: Int? { near.runLoop.statistics.spinHits + far.runLoop.statistics.spinHits }

    private static func ping(_ near: RunLoop, _ far: RunLoop, _ rally: Rally) {
        far.perform {
            near.perform {
                if rally.returned() { ping(near, far, rally) }
            }
        }
    }

    @inline(__always)
    private static func send(_ value: Int, to port: Port<Int>, _ rally: Rally) {
        do { try port.send(value) } catch { rally.fail("Port.send: \(error)") }
    }
}
