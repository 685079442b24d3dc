import Notifications
import RunLoops
import Synchronization
import TestSupport

/// The state that all threads of the removal stress share.
///
/// The threads that post and the loops that deliver are actors: each makes its calls one after another. Each actor has two streams
/// of numbered posts, one for its own posts and one for those that handlers make on its thread.
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
    /// Has a thread of its own, because other tests can block all threads that tasks share.
    let executor: ThreadExecutor

    /// A logical clock, which ticks at every event that is compared with others.
    let clock = Shared()
    /// Calls that violate the guarantee.
    let violations = Log<String>()
    let posts = Shared()
    let nestedPosts = Shared()
    let calls = Shared()
    let callsOnLoops = Shared()
    let removals = Shared()
    let waits = Shared()
    let removalsInHandlers = Shared()
    let nestedRuns = Shared()

    /// True if enough of each kind has happened for the stress to be meaningful.
    var hasStressed: Bool {
        callsOnLoops.count > 100 && calls.count > callsOnLoops.count + 100 && waits.count > 10
            && removals.count > waits.count + 100 && removalsInHandlers.count > 10 && nestedPosts.count > 10
            && nestedRuns.count > 10
    }

    /// For each actor, a tick before its next call.
    private let beforeCall = (0..<actorCount).map { _ in Shared() }
    /// For each stream, the number of the last post.
    private let posted = (0..<streamCount).map { _ in Shared() }
    /// For each actor, the number of calls that reached `act`.
    private let turns = (0..<actorCount).map { _ in Shared() }
    /// For each actor, the number of nested runs.
    private let depth = (0..<actorCount).map { _ in Shared() }
    /// The registered observers, which any thread can remove.
    private let living = Guarded<[WatchedObserver]>([])
    /// The last observers that handlers have removed.
    let removedInHandlers = Guarded<[WatchedObserver]>([])

    init(_ loops: [RunLoop], _ executor: ThreadExecutor) {
        self.loops = loops
        self.executor = executor
    }

    /// The stream of an actor's own posts; the next stream has the posts that handlers make on its thread.
    static func stream(of actor: Int) -> Int { 2 * actor }
    static func actor(of stream: Int) -> Int { stream / 2 }
    static func isNested(_ stream: Int) -> Bool { !stream.isMultiple(of: 2) }
    static func actor(ofLoop index: Int) -> Int { posterCount + index }

    /// Ticks when an actor reaches its next observer, whose calls then start after this tick.
    func advance(_ actor: Int) {
        beforeCall[actor].value.store(clock.increment(), ordering: .relaxed)
    }

    /// A tick before the call that an actor is making.
    func start(of actor: Int) -> Int { beforeCall[actor].value.load(ordering: .relaxed) }

    func keep(_ observer: WatchedObserver) { living.withLock { $0.append(observer) } }

    var livingCount: Int { living.withLock { $0.count } }

    /// Adds an observer to the list of those that were removed last.
    ///
    /// - Returns: The observers that are no longer in the list.
    static func add(_ observer: WatchedObserver, to removed: inout [WatchedObserver]) -> [WatchedObserver] {
        removed.append(observer)
        if removed.count <= 2_000 { return [] }
        defer { removed.removeFirst(1_000) }
        return Array(removed.prefix(1_000))
    }

    /// Takes one of the observers, which no other thread can then remove.
    func takeLiving(_ choice: Int) -> WatchedObserver? {
        living.withLock { living in
            if living.isEmpty { return nil }
            living.swapAt(choice % living.count, living.count - 1)
            return living.removeLast()
        }
    }

    /// Posts the next notification of a stream, in one of the ways.
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
