/// The connections that subscribe to one pattern, in ascending order, with the number of their subscriptions.
struct Subscribers: Sendable {
    private(set) var connections: [Hub.ConnectionID] = []
    private var counts: [Int] = []

    var isEmpty: Bool { connections.isEmpty }

    private func place(of connection: Hub.ConnectionID) -> Int {
        var (low, high) = (0, connections.count)
        while low < high {
            let middle = (low + high) / 2
            if connections[middle] < connection { low = middle + 1 } else { high = middle }
        }
        return low
    }

    func contains(_ connection: Hub.ConnectionID) -> Bool {
        let place = place(of: connection)
        return place < connections.count && connections[place] == connection
    }

    mutating func add(_ connection: Hub.ConnectionID) {
        let place = place(of: connection)
        if place < connections.count && connections[place] == connection {
            counts[place] += 1
        } else {
            connections.insert(connection, at: place)
            counts.insert(1, at: place)
        }
    }

    mutating func remove(_ connection: Hub.ConnectionID) {
        let place = place(of: connection)
        precondition(
            place < connections.count && connections[place] == connection,
            "a subscription is removed once")
        counts[place] -= 1
        if counts[place] > 0 { return }
        connections.remove(at: place)
        counts.remove(at: place)
    }

    /// Returns the connections of two ascending lists, in ascending order, each once.
    static func union(_ left: [Hub.ConnectionID], _ right: [Hub.ConnectionID]) -> [Hub.ConnectionID] {
        if right.isEmpty { return left }
        if left.isEmpty { return right }
        var all: [Hub.ConnectionID] = []
        all.reserveCapacity(left.count + right.count)
        var (here, there) = (0, 0)
        while here < left.count && there < right.count {
            let (first, second) = (left[here], right[there])
            all.append(min(first, second))
            if first <= second { here += 1 }
            if second <= first { there += 1 }
        }
        all += left[here...]
        all += right[there...]
        return all
    }
}
