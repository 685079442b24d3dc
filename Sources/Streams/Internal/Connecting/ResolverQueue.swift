internal import DequeModule

/// The host names that are looked up, those that wait for a thread, and the number of threads.
///
/// A name is looked up once for all who ask for it meanwhile. A thread is *in use* while somebody awaits the name that it looks up,
/// and while it has no name yet. If nobody awaits the name any more, the thread is *abandoned*: it cannot be interrupted, but it no
/// longer counts as in use, so another thread takes its place. Threads of both kinds together never exceed a second limit.
///
/// A pure value.
struct ResolverQueue<Waiter: Sendable>: Sendable {
    /// The right to one answer.
    struct Ticket: Hashable, Sendable {
        let name: String
        fileprivate let number: UInt64
    }

    private struct Question: Sendable {
        /// The number of the question, which tells it from earlier and later questions for the same name.
        let number: UInt64
        /// Those who await the answer, by the numbers of their tickets.
        var waiters: [UInt64: Waiter]
        /// True once a thread has taken the name.
        var isTaken = false
    }

    /// The names that somebody awaits, and those that a thread still looks up.
    private var questions: [String: Question] = [:]
    /// The questions that wait for a thread, in order, and others that were answered or given up since.
    private var order = Deque<(name: String, number: UInt64)>()
    /// The number of entries in the order, at most twice the number of questions that wait, and 16.
    var orderCount: Int { order.count }
    /// The number of questions that wait for a thread.
    private(set) var waitingCount = 0
    /// The number of threads, including those that are being started.
    private(set) var threadCount = 0
    /// The number of threads that look up names that nobody awaits any more.
    private(set) var abandonedCount = 0
    private var lastNumber: UInt64 = 0

    private let useLimit: Int
    private let threadLimit: Int

    /// Creates a queue without names.
    ///
    /// - Parameters:
    ///   - useLimit: The maximum number of threads in use that the queue asks for.
    ///   - threadLimit: The maximum number of threads, in use and abandoned.
    init(useLimit: Int, threadLimit: Int) {
        self.useLimit = useLimit
        self.threadLimit = threadLimit
    }

    /// True if names wait because all threads are held by names that nobody awaits any more, or are in use.
    var isStuck: Bool { waitingCount > 0 && threadCount >= threadLimit }

    /// Adds somebody who awaits the addresses of a name.
    ///
    /// - Returns: The ticket, and true if the caller must start another thread. That thread is counted already.
    mutating func add(_ waiter: Waiter, for name: String) -> (ticket: Ticket, startsThread: Bool) {
        lastNumber += 1
        let ticket = Ticket(name: name, number: lastNumber)
        if var question = questions[name] {
            if question.isTaken && question.waiters.isEmpty { abandonedCount -= 1 }
            question.waiters[lastNumber] = waiter
            questions[name] = question
            return (ticket, false)
        }
        questions[name] = Question(number: lastNumber, waiters: [lastNumber: waiter])
        order.append((name, lastNumber))
        waitingCount += 1
        return (ticket, startsThread())
    }

    /// Removes somebody who no longer awaits an answer; does nothing if the answer was given.
    ///
    /// - Returns: The waiter that was removed, and true if the caller must start another thread, which is counted already.
    mutating func remove(_ ticket: Ticket) -> (removed: Waiter?, startsThread: Bool) {
        guard let waiter = questions[ticket.name]?.waiters.removeValue(forKey: ticket.number) else {
            return (nil, false)
        }
        guard let question = questions[ticket.name], question.waiters.isEmpty else { return (waiter, false) }
        if question.isTaken {
            abandonedCount += 1
            return (waiter, startsThread())
        }
        questions[ticket.name] = nil
        waitingCount -= 1
        // Questions that were given up stay in the order until they are more than half of it, so that removing one costs the same
        // for any number of them.
        if order.count > 2 * waitingCount + 16 {
            let questions = questions
            order.removeAll { questions[$0.name]?.number != $0.number }
        }
        return (waiter, false)
    }

    private mutating func startsThread() -> Bool {
        guard waitingCount > 0, threadCount - abandonedCount < useLimit, threadCount < threadLimit else {
            return false
        }
        threadCount += 1
        return true
    }

    /// Gives the next name to a thread.
    ///
    /// - Returns: The name; nil if there is none. After nil, the thread must end, and is no longer counted.
    mutating func next() -> String? {
        // Those who ask again for a name whose thread was abandoned bring that thread back into use. Then there can be too many.
        if threadCount - abandonedCount <= useLimit {
            while let (name, number) = order.popFirst() {
                guard let question = questions[name], question.number == number, !question.isTaken else {
                    continue
                }
                questions[name]?.isTaken = true
                waitingCount -= 1
                return name
            }
        }
        threadCount -= 1
        return nil
    }

    /// Records that a thread has looked up a name.
    ///
    /// - Returns: Those who await the answer, in the order in which they asked.
    mutating func finish(_ name: String) -> [Waiter] {
        guard let question = questions.removeValue(forKey: name) else { return [] }
        if question.waiters.isEmpty { abandonedCount -= 1 }
        return question.waiters.sorted { $0.key < $1.key }.map(\.value)
    }

    /// Records that a thread could not be started.
    ///
    /// - Returns: Those who await a name that no thread will look up, because none is left; none if there is another thread.
    mutating func threadWasRefused() -> [Waiter] {
        threadCount -= 1
        if threadCount > 0 { return [] }
        defer {
            questions = [:]
            order = []
            waitingCount = 0
        }
        return questions.values.flatMap(\.waiters).sorted { $0.key < $1.key }.map(\.value)
    }
}
