internal import CThreadControl
internal import CYardsticks
internal import Dispatch
internal import DistributedNotifications
internal import Foundation
internal import MessagePorts
internal import RunLoops
internal import Synchronization

/// The processors of the threads that a post passes through.
struct PostPlace {
    let hub: Int32
    let others: Int32
}

/// A poster and its observers.
protocol PostChannel: AnyObject {
    /// Posts `count` times, and waits until every observer has received every post.
    func post(_ count: Int) throws

    /// The time from the last post to its delivery to the first observer, in nanoseconds.
    var lastDelay: Int64 { get }

    /// Closes the channel, and ends its threads.
    func end() throws
}

/// An observer that expects posts with numbers in order.
final class PostObserver: Sendable {
    private let state = Mutex(State())
    private let isComplete = DispatchSemaphore(value: 0)

    private struct State {
        var next: Int64 = 0
        var expected: Int64 = .max
        var delay: Int64 = 0
        var strays = 0
    }

    /// Records a post, and counts a stray if the post is not the next one.
    func receive(_ number: Int64, _ time: Int64) {
        let now = bench_now()
        let isLast = state.withLock { state in
            if number != state.next { state.strays += 1 }
            state.next = number + 1
            state.delay = now - time
            return state.next == state.expected
        }
        if isLast { isComplete.signal() }
    }

    func miss() { state.withLock { $0.strays += 1 } }

    /// Sets the number of posts to wait for, which must happen before the last post is sent.
    func expect(_ count: Int64) { state.withLock { $0.expected = count } }

    /// Waits until the expected posts have arrived.
    func wait() throws {
        try isComplete.waitForEnd()
        try Miscount.check(expected: 0, found: state.withLock { $0.strays })
    }

    var delay: Int64 { state.withLock { $0.delay } }
}

/// The lower bound for two hops: threads that wait in `recv`, and a relay with epoll.
final class RelayChannel: PostChannel {
    private let relay: WorkerThread
    private let threads: [WorkerThread]
    private let observers: [PostObserver]
    private let stopEvent = bench_event_open(false)
    /// The near end of the poster's connection, and the far ends of all connections.
    private let poster: CInt
    private let farEnds: [CInt]
    private var posted: Int64 = 0

    init(_ count: Int, _ place: PostPlace) throws {
        var near: [CInt] = []
        var far: [CInt] = []
        for _ in 0...count {
            var ends: [CInt] = [-1, -1]
            if !bench_packets_open(&ends) { throw SystemError(call: "socketpair", code: errno) }
            near.append(ends[0])
            far.append(ends[1])
        }
        poster = near[0]
        farEnds = far
        observers = (0..<count).map { _ in PostObserver() }
        ThreadNumber.current.pin(to: [place.hub])
        relay = WorkerThread()
        relay.run { [far, stopEvent] in
            bench_relay_serve(far[0], Array(far[1...]), Int32(far.count - 1), stopEvent)
        }
        ThreadNumber.current.pin(to: [place.others])
        threads = zip(near[1...], observers).map { socket, observer in
            let thread = WorkerThread()
            thread.run {
                var (number, time): (Int64, Int64) = (0, 0)
                while bench_relay_observe(socket, &number, &time) { observer.receive(number, time) }
                bench_packets_close(socket)
            }
            return thread
        }
    }

    func post(_ count: Int) throws {
        let end = posted + Int64(count)
        for observer in observers { observer.expect(end) }
        while posted < end {
            if !bench_relay_post(poster, posted, bench_now()) {
                throw Miscount(expected: Int(end), found: Int(posted))
            }
            posted += 1
        }
        for observer in observers { try observer.wait() }
    }

    var lastDelay: Int64 { observers[0].delay }

    func end() {
        bench_event_write(stopEvent)
        relay.wait()
        relay.end()
        // The observers see the end of their connections.
        for end in farEnds { bench_packets_close(end) }
        for thread in threads {
            thread.wait()
            thread.end()
        }
        bench_packets_close(poster)
        close(stopEvent)
    }
}

/// One center that posts, and one center for each observer, all connected to a hub.
final class HubChannel: PostChannel {
    private let directory: URL
    private let hub: DistributedNotificationHub
    private let poster: DistributedNotificationCenter
    private let observers: [PostObserver]
    private var threads: [RunLoopThread] = []
    private var centers: [DistributedNotificationCenter] = []
    private var observations: [DistributedObservation] = []
    private var posted: Int64 = 0

    init(_ count: Int, _ place: PostPlace) throws {
        directory = FileManager.default.temporaryDirectory.appending(
            path: "runloop-bench-\(UUID().uuidString)")
        try FileManager.default.createDirectory(
            at: directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let name = try PortName("bench")
        let names = PortNames(directory: directory.path)
        ThreadNumber.current.pin(to: [place.hub])
        hub = try DistributedNotificationHub(named: name, in: names)
        ThreadNumber.current.pin(to: [place.others])
        let engine = DistributedNotificationEngine.hub(named: name, in: names, servesIfFirst: false)
        poster = try DistributedNotificationCenter(engine)
        observers = (0..<count).map { _ in PostObserver() }
        for observer in observers {
            let thread = try RunLoopThread(name: "observer")
            let center = try DistributedNotificationCenter(engine)
            threads.append(thread)
            centers.append(center)
            let observation = center.addObserver(forName: "bench", on: thread.runLoop) { event in
                guard case .notification(let note) = event, note.payload.count == 64 else {
                    return observer.miss()
                }
                note.payload.withUnsafeBytes {
                    observer.receive(
                        $0.load(as: Int64.self), $0.load(fromByteOffset: 8, as: Int64.self))
                }
            }
            observations.append(observation)
            if !observation.waitUntilConfirmed(before: .now + .seconds(60)) {
                throw Miscount(expected: 1, found: 0)
            }
        }
    }

    func post(_ count: Int) throws {
        let end = posted + Int64(count)
        for observer in observers { observer.expect(end) }
        var payload = [UInt8](repeating: 0, count: 64)
        while posted < end {
            payload.withUnsafeMutableBytes {
                $0.storeBytes(of: posted, as: Int64.self)
                $0.storeBytes(of: bench_now(), toByteOffset: 8, as: Int64.self)
            }
            try poster.post("bench", payload: payload, whenFull: .block(atMost: .seconds(60)))
            posted += 1
        }
        for observer in observers { try observer.wait() }
    }

    var lastDelay: Int64 { observers[0].delay }

    func end() throws {
        for observation in observations { observation.remove() }
        for center in centers + [poster] { center.invalidate() }
        hub.invalidate()
        hub.waitUntilInvalid()
        for thread in threads {
            thread.stop()
            thread.join()
        }
        try FileManager.default.removeItem(at: directory)
    }
}
