internal import DequeModule
internal import RunLoops

/// The requests that wait for a reply on one connection, identified by their numbers.
struct RequestTable: Sendable {
    /// The requests in the order of their numbers, which is the order in which they were added.
    ///
    /// Most replies are for one of the first requests.
    private var waiting: Deque<PendingRequest> = []
    private var last: UInt64 = 0
    /// The number of waiting requests that tasks have made.
    ///
    /// Tasks cannot read replies themselves.
    private(set) var taskCount = 0

    /// The number of replies that arrived after the wait for them had ended.
    private(set) var lateCount = 0

    var isEmpty: Bool { waiting.isEmpty }

    /// The gate of the thread whose request has waited longest, or nil if no thread waits at a gate.
    ///
    /// When the gate opens, that thread can read the replies to all requests.
    ///
    /// - Complexity: O(*n*), where *n* is the number of requests.
    var firstGate: ThreadGate? {
        // The list is usually empty, and iterating over it would retain it.
        if waiting.isEmpty { return nil }
        for request in waiting { if let gate = request.gate { return gate } }
        return nil
    }

    /// Adds a request, and gives it the next number.
    mutating func add(_ request: PendingRequest) {
        last += 1
        request.number = last
        waiting.append(request)
        if request.isTask { taskCount += 1 }
    }

    /// Removes the request with the given number.
    ///
    /// This is called when a reply has arrived, or a notice that there will be no reply.
    ///
    /// - Returns: The request. Nil if the wait for its reply has ended; in that case the reply is counted as late.
    /// - Complexity: O(*n*), where *n* is the number of requests, unless the request is one of the first or the last.
    mutating func take(_ number: UInt64) -> PendingRequest? {
        let request = remove(number)
        if request == nil { lateCount += 1 }
        return request
    }

    /// Removes a request whose thread or task no longer waits for the reply.
    ///
    /// - Returns: False if the request was decided in the meantime.
    /// - Complexity: O(*n*), where *n* is the number of requests, unless the request is one of the first or the last.
    mutating func abandon(_ request: PendingRequest) -> Bool { remove(request.number) != nil }

    /// Removes all requests, because the connection has ended.
    mutating func removeAll() -> Deque<PendingRequest> {
        defer {
            waiting = []
            taskCount = 0
        }
        // The result is not an array: if the deque is empty, `Array(waiting)` would write to the empty array that all threads
        // share.
        return waiting
    }

    private mutating func remove(_ number: UInt64) -> PendingRequest? {
        guard let place = place(of: number) else { return nil }
        let request = place == 0 ? waiting.removeFirst() : waiting.remove(at: place)
        if request.isTask { taskCount -= 1 }
        return request
    }

    /// Returns the index of the request with the given number, or nil if there is none.
    ///
    /// - Complexity: O(log *n*), where *n* is the number of requests.
    private func place(of number: UInt64) -> Int? {
        var (low, high) = (0, waiting.count)
        while low < high {
            let middle = (low + high) / 2
            let found = waiting[middle].number
            if found == number { return middle }
            if found < number { low = middle + 1 } else { high = middle }
        }
        return nil
    }
}
