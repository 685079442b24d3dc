internal import CYardsticks

/// Isolates the kernel: two processes, and between them a connection that keeps packets apart.
///
/// Read the round trip of the one without an epoll first: nothing that passes packets on answers faster. The other one is
/// the least for ends that must be able to wait for something else, too.
final class BarePacketPair: PacketPair {
    private let near = WorkerThread()
    private let far: OtherProcess
    private let end: CInt
    private let epoll: CInt
    private let rally: Rally

    /// The kernel has no descriptor left.
    struct Failure: Error {}

    /// Starts the other process.
    init(watches: Bool, rally: Rally) throws {
        self.rally = rally
        var ends: [CInt] = [0, 0]
        if !bench_packets_open(&ends) { throw Failure() }
        end = ends[0]
        far = try OtherProcess(["serve-packets"] + (watches ? ["--watches"] : []), end: ends[1])
        bench_packets_close(ends[1])
        epoll = watches ? bench_packets_watch(end) : -1
    }

    deinit {
        bench_packets_close(end)
        far.wait()
    }

    var nearThreads: [ThreadNumber] { [near.number] }
    var farThreads: [ThreadNumber] { [far.number] }

    func start() {
        near.run { [end, epoll, rally] in
            rally.begin()
            repeat {
                bench_packets_send(end, bench_packet_question, 64)
                if bench_packets_receive(end, epoll) < 0 { return rally.fail("the other process is gone") }
            } while rally.returned()
        }
    }

    func stream(_ count: Int) throws -> Int {
        for _ in 0..<count { bench_packets_send(end, bench_packet_plain, 64) }
        bench_packets_send(end, bench_packet_question, 64)
        return Int(bench_packets_receive(end, epoll))
    }
}
