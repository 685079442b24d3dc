internal import RunLoops
internal import Synchronization

/// Counts a listener's open connections, in total and for each peer.
///
/// > Thread safety: any thread.
final class AdmissionCounts: Sendable {
    private struct State: Sendable {
        var count = 0
        var countsOfPeers: [[UInt8]: Int] = [:]
        /// A function that is called once, when the next connection ends, and is then removed.
        var onRoom: (@Sendable () -> Void)?
        /// Functions that are called once, when no connection is left, and are then removed.
        var onEmpty: [@Sendable () -> Void] = []
    }

    private let state = Guarded(State())

    var count: Int { state.withLock { $0.count } }

    /// Counts a connection, unless its peer has the maximum number of connections.
    ///
    /// - Parameters:
    ///   - peer: The address of the peer, without its port; nil for a peer that cannot be distinguished from others.
    ///   - limit: The maximum number of connections that a peer may have; nil for any number.
    /// - Returns: The record that counts the connection; nil if the peer has the maximum number.
    func admit(_ peer: [UInt8]?, limit: Int?) -> AdmittedConnection? {
        let isAdmitted = state.withLock { state in
            if let peer {
                let count = state.countsOfPeers[peer, default: 0]
                if let limit, count >= limit { return false }
                state.countsOfPeers[peer] = count + 1
            }
            state.count += 1
            return true
        }
        return isAdmitted ? AdmittedConnection(self, peer) : nil
    }

    /// Registers `onRoom`, to be called when the next connection ends.
    ///
    /// If there are already fewer than `limit` connections, the method does nothing.
    ///
    /// - Returns: True if `onRoom` will be called.
    func notify(below limit: Int, _ onRoom: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            if state.count < limit { return false }
            state.onRoom = onRoom
            return true
        }
    }

    /// Calls a function when no connection is left.
    ///
    /// If there is no connection now, the function is called immediately. Otherwise, it is called later, on the thread that ends
    /// the last connection.
    func whenEmpty(_ body: @escaping @Sendable () -> Void) {
        let isEmpty = state.withLock { state in
            if state.count > 0 { state.onEmpty.append(body) }
            return state.count == 0
        }
        if isEmpty { body() }
    }

    fileprivate func giveBack(_ peer: [UInt8]?) {
        let (onRoom, onEmpty) = state.withLock { state in
            state.count -= 1
            if let peer, let count = state.countsOfPeers[peer] {
                state.countsOfPeers[peer] = count == 1 ? nil : count - 1
            }
            let calls = (state.onRoom, state.count == 0 ? state.onEmpty : [])
            state.onRoom = nil
            if state.count == 0 { state.onEmpty = [] }
            return calls
        }
        onRoom?()
        for body in onEmpty { body() }
    }
}

/// The record that counts one connection towards the limits of its listener.
///
/// The connection counts until ``giveBack()`` is called or the record is destroyed.
///
/// > Thread safety: any thread.
final class AdmittedConnection: Sendable {
    private let limits: AdmissionCounts
    private let peer: [UInt8]?
    private let isGivenBack = Atomic(false)

    fileprivate init(_ limits: AdmissionCounts, _ peer: [UInt8]?) {
        self.limits = limits
        self.peer = peer
    }

    deinit { giveBack() }

    /// Stops counting the connection; only the first call has an effect.
    func giveBack() {
        if !isGivenBack.exchange(true, ordering: .relaxed) { limits.giveBack(peer) }
    }
}
