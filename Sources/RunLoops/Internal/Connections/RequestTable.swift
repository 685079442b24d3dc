/// The requests of one connection that wait for a reply, by number.
struct RequestTable: Sendable {
    private var waiting: [UInt64: PendingRequest] = [:]
    private var last: UInt64 = 0
    /// How many of them are tasks', which cannot read for themselves.
    private(set) var taskCount = 0

    /// How many replies came to requests that nobody waited for any more.
    private(set) var lateCount = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// Where a thread waits that could read for itself and the others; the one with the oldest request.
    ///
    /// O(*n*), *n* requests.
    var firstGate: ThreadGate? {
        if waiting.isEmpty { return nil }
        return waiting.lazy.filter { $0.value.gate != nil }.min { $0.key < $1.key }?.value.gate
    }

    /// Notes a request, and gives it the next number.
    mutating func add(_ request: PendingRequest) {
        last += 1
        request.number = last
        waiting[last] = request
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

    /// Nobody waits for a request any more.
    ///
    /// - Returns: False if it was answered meanwhile.
    mutating func giveUp(_ request: PendingRequest) -> Bool { remove(request.number) != nil }

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
