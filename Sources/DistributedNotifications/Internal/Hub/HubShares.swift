/// The memory that each process makes a hub use, in bytes.
///
/// A process may use as much as is still free. So one process alone gets half of the hub's memory, a hundred of them get a
/// hundredth each, and there is always as much for the next one. Nothing is taken away from a process that keeps what it has.
struct HubShares: Sendable {
    /// The identity of a process: its user and its number.
    struct Owner: Hashable, Sendable {
        let user: UInt32
        let process: Int32

        /// The owner of everything in a hub that serves one process only.
        static let own = Owner(user: 0, process: 0)
    }

    private struct Share: Sendable {
        var owner: Owner
        var bytes = 0
        /// The number of connections and posters, ended ones included, of the process.
        var users = 0
    }

    private var shares: [Share] = []
    private var numbers: [Owner: Int] = [:]
    private var unused: [Int] = []
    private let limit: Int
    /// The bytes of all processes.
    private(set) var used = 0

    init(limit: Int) { self.limit = limit }

    /// Returns the number of the share of a process, which exists until ``release(_:)`` is called as often as this.
    mutating func retain(_ owner: Owner) -> Int {
        if let number = numbers[owner] {
            shares[number].users += 1
            return number
        }
        let number = unused.popLast() ?? shares.count
        numbers[owner] = number
        let share = Share(owner: owner, users: 1)
        if number == shares.count { shares.append(share) } else { shares[number] = share }
        return number
    }

    mutating func retain(_ number: Int) { shares[number].users += 1 }

    mutating func release(_ number: Int) {
        shares[number].users -= 1
        if shares[number].users > 0 { return }
        assert(shares[number].bytes == 0, "what a process has left counts until it is given up")
        numbers[shares[number].owner] = nil
        unused.append(number)
    }

    /// Counts bytes, unless the process would use more than is still free then.
    ///
    /// - Returns: False if there are too many bytes, which are then not counted.
    mutating func charge(_ number: Int, _ bytes: Int) -> Bool {
        if shares[number].bytes + bytes > limit - used - bytes { return false }
        shares[number].bytes += bytes
        used += bytes
        return true
    }

    /// Counts bytes no more.
    mutating func discharge(_ number: Int, _ bytes: Int) {
        shares[number].bytes -= bytes
        used -= bytes
    }

    /// Counts bytes of one process as those of another one, which has taken them over.
    mutating func move(_ bytes: Int, from old: Int, to new: Int) {
        shares[old].bytes -= bytes
        shares[new].bytes += bytes
    }

    /// The number of bytes of a process, for tests.
    func bytes(of owner: Owner) -> Int { numbers[owner].map { shares[$0].bytes } ?? 0 }
}

extension HubShares: Hashable {
    // The bytes follow from what the hub keeps, so that they make no difference between two hubs.
    static func == (left: HubShares, right: HubShares) -> Bool { true }
    func hash(into hasher: inout Hasher) {}
}
