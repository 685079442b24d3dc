import Notifications
import RunLoops
import Synchronization
import TestSupport

/// The state that all threads of the removal stress share.
///
/// The threads that post are actors, and so are the loops that deliver: each makes its calls one after the other, and each
/// has two streams of numbered posts, one of its own and one of the posts that handlers make on its thread.
final class StressStage: Sendable {
    static let posterCount = 4
    static let loopCount = 2
    private static let actorCount = posterCount + loopCount
    static let streamCount = 2 * actorCount

    struct Tick: NotificationMessage {
        typealias Subject = Feed
        let stream: Int
        let number: Int
    }

    let center = NotificationCenter()
    let feeds = [Feed(), Feed()]
    let names: [Notification.Name] = [.a, .b]
    let loops: [RunLoop]
    /// On a thread of its own: those that tasks have may all be blocked by tests.
    let executor: ThreadExecutor

    /// Ticks whenever something happens that others are compared with.
    let clock = Shared()
    /// Calls that must not have been.
    let violations = Log<String>()
    let posts = Shared()
    let nestedPosts = Shared()
    let calls = Shared()
    let callsOnLoops = Shared()
    let removals = Shared()
    let waits = Shared()
    let removalsInHandlers = Shared()
    let nestedRuns = Shared()

    /// True if some of everything has happened: a stress that stresses nothing finds nothing.
    var hasStressed: Bool {
        callsOnLoops.count > 100 && calls.count > callsOnLoops.count + 100 && waits.count > 10
            && removals.count > waits.count + 100 && removalsInHandlers.count > 10 && nestedPosts.count > 10
            && nestedRuns.count > 10
    }

    /// By actor: a tick at which its next call had not begun.
    private let beforeCall = (0..<actorCount).map { _ in Shared() }
    /// By stream: the number of the last post.
    private let posted = (0..<streamCount).map { _ in Shared() }
    /// By actor: the number of calls that were to do something.
    private let turns = (0..<actorCount).map { _ in Shared() }
    /// By actor: how many runs are inside each other.
    private let depth = (0..<actorCount).map { _ in Shared() }
    /// The observers, for any thread to remove.
    private let living = Guarded<[WatchedObserver]>([])
    /// Those that handlers have removed, the last of them.
    let removedInHandlers = Guarded<[WatchedObserver]>([])

    init(_ loops: [RunLoop], _ executor: ThreadExecutor) {
        self.loops = loops
        self.executor = executor
    }

    /// The stream of what an actor posts by itself; the one after it is that of what handlers post on its thread.
    static func stream(of actor: Int) -> Int { 2 * actor }
    static func actor(of stream: Int) -> Int { stream / 2 }
    static func isNested(_ stream: Int) -> Bool { !stream.isMultiple(of: 2) }
    static func actor(ofLoop index: Int) -> Int { posterCount + index }

    /// An actor comes to its next observer: what it calls from now on starts after this tick.
    func advance(_ actor: Int) {
        beforeCall[actor].value.store(clock.increment(), ordering: .relaxed)
    }

    /// A tick before the call that an actor makes now.
    func start(of actor: Int) -> Int { beforeCall[actor].value.load(ordering: .relaxed) }

    func keep(_ observer: WatchedObserver) { living.withLock { $0.append(observer) } }

    var livingCount: Int { living.withLock { $0.count } }

    /// Remembers the observers that were removed last.
    ///
    /// - Returns: The observers that are not remembered any more.
    static func add(_ observer: WatchedObserver, to removed: inout [WatchedObserver]) -> [WatchedObserver] {
        removed.append(observer)
        if removed.count <= 2_000 { return [] }
        defer { removed.removeFirst(1_000) }
        return Array(removed.prefix(1_000))
    }

    /// Takes one of the observers: no other thread removes it then.
    func takeLiving(_ choice: Int) -> WatchedObserver? {
        living.withLock { living in
            if living.isEmpty { return nil }
            living.swapAt(choice % living.count, living.count - 1)
            return living.removeLast()
        }
    }

    /// Posts the next one of a stream, in one of the ways.
    func post(_ stream: Int, _ random: inout SplitMix64, queue: NotificationQueue? = nil) {
        let number = posted[stream].increment() + 1
        posts.increment()
        let note = Notification(
            name: names[number % 2], object: ([nil] + feeds).randomElement(using: &random) ?? nil,
            userInfo: ["stream": stream, "number": number])
        advance(Self.actor(of: stream))
        switch Int.random(in: 0..<8, using: &random) {
        case 0: center.post(Tick(stream: stream, number: number))
        case 1:
            guard let queue else { return center.post(note) }
            queue.enqueue(note, postingStyle: .asap, coalesceMask: [])
            queue.runLoop.run(until: .distantPast)
        case 2:
            guard let queue else { return center.post(note) }
            queue.enqueue(note, postingStyle: .now, coalesceMask: [])
        default: center.post(note)
        }
    }

    /// Posts, registers, removes or runs the loop inside a handler.
    func act(_ actor: Int) {
        let turn = turns[actor].increment()
        var random = SplitMix64(seed: UInt64(turn) &* 16 &+ UInt64(actor))
        switch turn % 16 {
        case 0, 6:
            nestedPosts.increment()
            post(Self.stream(of: actor) + 1, &random)
        case 3, 10:
            guard let victim = takeLiving(Int.random(in: 0..<1_000, using: &random)) else { return }
            victim.end(mayWait: false, &random)
            removalsInHandlers.increment()
            let old = removedInHandlers.withLock { Self.add(victim, to: &$0) }
            for observer in old { observer.letGo() }
        case 12 where livingCount < 40: keep(WatchedObserver(self, &random))
        case 14:
            guard actor >= Self.posterCount, depth[actor].count < 3 else { return }
            depth[actor].increment()
            nestedRuns.increment()
            loops[actor - Self.posterCount].run(in: .default, until: .distantPast)
            depth[actor].value.subtract(1, ordering: .relaxed)
        default: break
        }
    }
}
