internal import CThreadControl
internal import CYardsticks
internal import Dispatch
internal import DistributedNotifications
internal import Glibc
internal import MessagePorts
internal import RunLoops
internal import Synchronization

/// Isolates posts of 64 bytes to observers through a hub in a process of its own: the time to one handler, and the rate to one and
/// to eight observers.
///
/// Read the quotients to the relay in C first: the same ways with two hops over a SEQPACKET socket, and nothing else.
struct DistributedPosts: Measurement {
    /// The largest number of observers.
    static let most = 8

    private enum Peer: String, CaseIterable {
        case relay = "two SEQPACKET hops, in C"
        case hub = "DistributedNotificationCenter"
    }

    private enum Work: Hashable, CaseIterable {
        case way
        case one
        case all
    }

    private struct Key: Hashable {
        let work: Work
        let peer: Peer
    }

    private let ways: [Peer: any PostWay]
    private var figures = RoundFigures<Key>()
    private(set) var stage = ""

    init() throws { ways = [.relay: try RelayWay(), .hub: try HubWay()] }

    mutating func measure(round: Int, in session: Session) throws {
        ThreadNumber.current.pin(to: session.machine.processors)
        let count = session.isQuick ? 2_000 : 10_000
        for peer in Peer.allCases.turns(of: round) {
            guard let way = ways[peer] else { continue }
            stage = "posts between processes, \(peer.rawValue)"
            let time = try self.time(of: way, count / 10)
            let one = try rate(of: way, count, toAll: false)
            let all = try rate(of: way, count / 4, toAll: true)
            if round < 0 { continue }
            figures.add(time, of: Key(work: .way, peer: peer))
            figures.add(one, of: Key(work: .one, peer: peer))
            figures.add(all, of: Key(work: .all, peer: peer))
        }
    }

    /// The median of the nanoseconds from a post to the observer.
    private func time(of way: any PostWay, _ count: Int) throws -> Double {
        var times: [Int64] = []
        for _ in 0..<count {
            way.receivers[0].expect(1)
            let start = bench_now()
            try way.post(toAll: false)
            way.receivers[0].wait()
            times.append(way.receivers[0].time - start)
        }
        return Double(times.sorted()[count / 2])
    }

    /// The posts a second.
    private func rate(of way: any PostWay, _ count: Int, toAll: Bool) throws -> Double {
        let receivers = toAll ? way.receivers : [way.receivers[0]]
        for receiver in receivers { receiver.expect(count) }
        let start = bench_now()
        for _ in 0..<count { try way.post(toAll: toAll) }
        for receiver in receivers { receiver.wait() }
        let seconds = Double(bench_now() - start) / 1e9
        for receiver in receivers { try Miscount.check(expected: 0, found: receiver.missed) }
        return Double(count) / seconds
    }

    mutating func end(in session: Session) throws { for way in ways.values { way.end() } }

    var remarks: [String] {
        [
            "Posts between processes: 64 bytes, through a process that does nothing else. The centers have threads of their own, so "
                + "a post has two hops between threads more than a packet of the relay. The center numbers posts, keeps them "
                + "until they are confirmed, and confirms; the relay does not."
        ]
    }

    var tables: [Table] {
        var table = Table(
            title: "Posts between processes",
            columns: [
                .ranged("µs to a handler", "time", .microseconds), .init("÷ C", "timeRatio", .ratio),
                .init("posts/s to 1", "one", .whole), .init("÷ C", "oneRatio", .ratio),
                .init("to \(Self.most)", "all", .whole), .init("÷ C", "allRatio", .ratio),
            ])
        table.rows = Peer.allCases.map { peer in
            var row = Table.Row(name: peer.rawValue)
            for (work, name) in [(Work.way, "time"), (.one, "one"), (.all, "all")] {
                row.add(figures.spread(Key(work: work, peer: peer)), as: name)
                row.add(ratio(work, peer), as: name + "Ratio")
            }
            return row
        }
        return [table]
    }

    private func ratio(_ work: Work, _ peer: Peer = .hub) -> Spread? {
        figures.ratio(Key(work: work, peer: peer), to: Key(work: work, peer: .relay))
    }

    func targets(on machine: Machine) -> [TargetRow] {
        [
            TargetRow(
                "B-X1", "post to handler through a hub, p50 ÷ two SEQPACKET hops in C", .atMost(1.3),
                figure: ratio(.way)),
            TargetRow(
                "B-X2", "posts a second to 1 observer ÷ relay in C", .atLeast(0.7), stretch: .atLeast(1),
                figure: ratio(.one)),
            TargetRow(
                "B-X2", "posts a second to 8 observers ÷ relay in C", .atLeast(0.7), stretch: .atLeast(1),
                figure: ratio(.all)),
        ]
    }
}

/// A way from a poster to observers in this process, through another process.
private protocol PostWay: AnyObject {
    var receivers: [PostReceiver] { get }

    /// Posts to the first receiver, or to all.
    func post(toAll: Bool) throws

    func end()
}

/// The end of a way: it counts what arrives.
private final class PostReceiver: Sendable {
    private let rest = Atomic<Int>(0)
    private let arrival = Atomic<Int64>(0)
    private let misses = Atomic<Int>(0)
    private let isOver = DispatchSemaphore(value: 0)

    /// The time of the last arrival.
    var time: Int64 { arrival.load(ordering: .acquiring) }
    /// The number of notices that something is missing.
    var missed: Int { misses.load(ordering: .acquiring) }

    func expect(_ count: Int) { rest.store(count, ordering: .releasing) }

    func wait() { isOver.wait() }

    func receive() {
        if rest.subtract(1, ordering: .acquiringAndReleasing).newValue > 0 { return }
        arrival.store(bench_now(), ordering: .releasing)
        isOver.signal()
    }

    func miss() { misses.add(1, ordering: .acquiringAndReleasing) }
}

/// Isolates a relay in C, and a blocked thread for each receiver.
private final class RelayWay: PostWay {
    let receivers = (0..<DistributedPosts.most).map { _ in PostReceiver() }
    private let process: ChildProcess
    private let threads = (0..<DistributedPosts.most).map { _ in WorkerThread() }
    private let sender: CInt

    init() throws {
        let name = "runloop-bench-relay-\(getpid())"
        process = try ChildProcess(["relay", "--name", name, "--receivers", "\(DistributedPosts.most)"])
        sender = RelayWay.connect(name)
        for (thread, receiver) in zip(threads, receivers) {
            let end = RelayWay.connect(name)
            thread.run {
                while bench_packets_receive(end, -1) >= 0 { receiver.receive() }
                bench_packets_close(end)
            }
        }
    }

    private static func connect(_ name: String) -> CInt {
        while true {
            let end = bench_packets_connect(name)
            if end >= 0 { return end }
            usleep(1_000)
        }
    }

    func post(toAll: Bool) {
        bench_packets_send(sender, toAll ? bench_packet_plain : bench_packet_question, 64)
    }

    func end() {
        bench_packets_close(sender)
        process.wait()
        for thread in threads {
            thread.wait()
            thread.end()
        }
    }
}

/// Isolates centers that meet at a hub, and a loop for each observer.
private final class HubWay: PostWay {
    let receivers = (0..<DistributedPosts.most).map { _ in PostReceiver() }
    private let process: ChildProcess
    private let poster: DistributedNotificationCenter
    private let observers: [DistributedNotificationCenter]
    private let observations: [DistributedObservation]
    private let threads: [RunLoopThread]
    /// The writing end of a pipe, which ends the hub when it is closed.
    private let stop: CInt
    private let payload = [UInt8](repeating: 1, count: 64)

    init() throws {
        var ends: [CInt] = [-1, -1]
        if pipe(&ends) != 0 { throw SystemError(call: "pipe", code: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        stop = ends[1]
        let name = "runloop-bench-hub-\(getpid())"
        process = try ChildProcess(["relay", "--name", name], end: ends[0])
        close(ends[0])
        // Fewer than the hub keeps for one connection, so that none is lost.
        var options = DistributedNotificationCenter.Options()
        options.keptPosts = 1_024
        let engine = DistributedNotificationEngine.hub(
            named: try PortName("@" + name), servesIfFirst: false)
        poster = try DistributedNotificationCenter(engine, options: options)
        observers = try receivers.map { _ in try DistributedNotificationCenter(engine) }
        threads = try receivers.map { _ in try RunLoopThread(name: "observer") }
        observations = zip(zip(observers, threads), receivers).enumerated().flatMap { index, parts in
            let ((center, thread), receiver) = parts
            return (index == 0 ? ["one", "all"] : ["all"]).map { name in
                center.addObserver(forName: name, on: thread.runLoop) { event in
                    if case .notification = event { receiver.receive() } else { receiver.miss() }
                }
            }
        }
        for observation in observations where !observation.waitUntilConfirmed() {
            throw Miscount(expected: 1, found: 0)
        }
    }

    func post(toAll: Bool) throws {
        try poster.post(toAll ? "all" : "one", payload: payload, whenFull: .block(until: .seconds(60)))
    }

    func end() {
        for observation in observations { observation.remove() }
        for center in observers + [poster] { center.invalidate() }
        for thread in threads {
            thread.stop()
            thread.join()
        }
        close(stop)
        process.wait()
    }
}
