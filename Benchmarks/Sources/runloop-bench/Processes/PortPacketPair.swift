internal import Glibc
internal import RunLoops

/// Isolates a port between processes: a thread that asks, and a parked loop that answers.
///
/// Read its round trip beside the bare pair's first: it is what names, rights, heads and the loop add to the kernel.
final class PortPacketPair: PacketPair {
    private let near = WorkerThread()
    private let far: OtherProcess
    private let remote: RemotePort
    private let rally: Rally
    private static let message = [UInt8](repeating: 1, count: 64)

    /// Starts the other process, and waits until it serves.
    init(rally: Rally) throws {
        self.rally = rally
        let name = "@runloop-bench-\(getpid())"
        far = try OtherProcess(["serve-packets", "--port", name])
        remote = try Self.connect(to: PortName(name))
    }

    deinit {
        remote.invalidate()
        far.wait()
    }

    private static func connect(to name: PortName) throws -> RemotePort {
        let deadline = ContinuousClock.now + .seconds(120)
        while true {
            do { return try RemotePort(named: name, before: deadline) } catch {
                if error != .name(.unknown(name)) || ContinuousClock.now > deadline { throw error }
                usleep(1_000)
            }
        }
    }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.run { [remote, rally] in
            rally.begin()
            do throws(MessagePortError) {
                repeat { _ = try remote.request(Self.message) } while rally.returned()
            } catch {
                rally.fail("RemotePort.request: \(error)")
            }
        }
    }

    func stream(_ count: Int) throws -> Int {
        for _ in 0..<count { try remote.send(Self.message) }
        let reply = try remote.request(Self.message)
        return reply.withBytes { bytes in bytes.unsafeLoad(as: Int.self) }
    }
}
