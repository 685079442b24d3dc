/// The requests of one connection that wait for a reply, by number.
struct RequestTable: Sendable {
    private var waiting: [UInt64: PendingRequest] = [:]
    private var last: UInt64 = 0
    /// How many of them are tasks', which cannot read for themselves.
    private(set) var taskCount = 0

    /// How many replies came to requests that nobody waited for any more.
    private(set) var lateCount = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// A thread that waits, and could read for itself and the others; the one with the oldest request.
    ///
    /// O(*n*), *n* requests.
    var firstThread: PendingRequest? {
        waiting.lazy.filter { $0.value.isAtGate }.min { $0.key < $1.key }?.value
    }

    /// The number of the next request that is made.
    mutating func nextNumber() -> UInt64 {
        last += 1
        return last
    }

    mutating func add(_ request: PendingRequest, number: UInt64) {
        waiting[number] = request
        if request.isTask { taskCount += 1 }
    }

    /// A reply has come, or word that there will be none.
    ///
    /// - Returns: Who waits for it; nil if nobody does, and then it is counted as late.
    mutating func take(_ number: UInt64) -> PendingRequest? {
        let request = remove(number)
        if request == nil { lateCount += 1 }
        return request
    }

    /// A reply has come for a request that was given up while it was taken.
    mutating func countLate() { lateCount += 1 }

    /// Nobody waits for a request any more.
    ///
    /// - Returns: False if it was answered meanwhile.
    mutating func giveUp(_ number: UInt64) -> Bool { remove(number) != nil }

    /// The connection is over.
    ///
    /// - Returns: Who waits in vain.
    mutating func removeAll() -> [PendingRequest] {
        defer {
            waiting = [:]
            taskCount = 0
        }
        return Array(waiting.values)
    }

    private mutating func remove(_ number: UInt64) -> PendingRequest? {
        let request = waiting.removeValue(forKey: number)
        if let request, request.isTask { taskCount -= 1 }
        return request
    }
}
