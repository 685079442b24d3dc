internal import CStreams
internal import RunLoops

/// Resolves host names on a few threads of its own, because the system's resolver blocks.
///
/// A thread ends when no name is waiting to be resolved. If the name server does not answer, the name occupies a thread until the
/// system gives up. While all threads are occupied, further names wait in a queue.
///
/// > Thread safety: any thread.
enum NameResolver {
    private struct Job: Sendable {
        let host: String
        let port: UInt16
        let lookUp: LookUp
    }

    /// The names that wait for a thread; at most four names are resolved at the same time.
    private static let queue = Guarded(ResolverQueue<Job>(mostThreads: 4))

    /// The maximum number of addresses that are tried for one name.
    private static let mostAddresses = 16

    /// Begins to resolve a host name on another thread, which then passes the answer to the look-up.
    ///
    /// - Throws: `SystemError` if the system refuses to start a thread, and no thread is running that can resolve the name.
    static func resolve(_ host: String, _ port: UInt16, for lookUp: LookUp) throws(SystemError) {
        let job = Job(host: host, port: port, lookUp: lookUp)
        if !queue.withLock({ $0.add(job) }) { return }
        do {
            try DetachedThread.start(name: "resolver", blocksSignals: true) { work() }
        } catch {
            let stranded = queue.withLock { $0.threadWasRefused() }
            for other in stranded where other.lookUp !== lookUp {
                other.lookUp.finish(with: .failed(.failed(error)))
            }
            if stranded.contains(where: { $0.lookUp === lookUp }) { throw error }
        }
    }

    /// Abandons a look-up whose answer no connection awaits any longer.
    static func forget(_ lookUp: LookUp) {
        lookUp.abandon()
        queue.withLock { $0.removeAll { $0.lookUp === lookUp } }
    }

    private static func work() {
        // Look-ups that no connection awaits any longer are skipped.
        while let job = queue.withLock({ $0.next { $0.lookUp.isAwaited } }) {
            job.lookUp.finish(with: addresses(of: job.host, job.port))
        }
    }

    private static func addresses(of host: String, _ port: UInt16) -> LookUp.Answer {
        let size = runloops_address_capacity
        var bytes = [UInt8](repeating: 0, count: mostAddresses * size)
        var lengths = [UInt32](repeating: 0, count: mostAddresses)
        var code: CInt = 0
        // Safe: the C function writes at most `mostAddresses` addresses, for which the arrays have room.
        let count = unsafe runloops_resolve(host, port, &bytes, &lengths, CInt(mostAddresses), &code)
        if count <= 0 {
            if code != 0 { return .failed(.failed(SystemError(call: "getaddrinfo", code: code))) }
            let words = unsafe String(cString: runloops_resolve_words(count))
            return .failed(.unresolved(ResolutionError(host: host, code: count, words: words)))
        }
        var addresses: [SocketAddress] = []
        for index in 0..<Int(count) {
            let rest = bytes.dropFirst(index * size)
            addresses.append(SocketAddress(kernel: Array(rest.prefix(Int(lengths[index])))))
        }
        return .addresses(addresses)
    }
}

/// The resolution of one host name, for one connection.
///
/// When there is an answer, a descriptor becomes readable, which wakes the connection's loop.
///
/// > Thread safety: any thread.
final class LookUp: Sendable {
    enum Answer: Sendable {
        case addresses([SocketAddress])
        case failed(Connection.EndReason)
    }

    private enum State: Sendable {
        case underWay
        case answered(Answer)
        /// The connection no longer waits for the answer, or has taken it.
        case abandoned
    }

    private let state = Guarded(State.underWay)
    private let signal: OwnedDescriptor

    /// The descriptor that is readable once there is an answer.
    var descriptor: CInt { signal.descriptor }

    init() throws(SystemError) {
        signal = try OwnedDescriptor.eventDescriptor()
        try signal.setNonBlocking()
    }

    var isAwaited: Bool {
        state.withLock { state in
            if case .abandoned = state { false } else { true }
        }
    }

    /// Sets the answer, and makes the descriptor readable.
    func finish(with answer: Answer) {
        let isAwaited = state.withLock { state in
            if case .abandoned = state { return false }
            state = .answered(answer)
            return true
        }
        if isAwaited { wake() }
    }

    func wake() { runloops_raise_event(signal.descriptor) }

    /// Removes and returns the answer, if there is one.
    func takeAnswer() -> Answer? {
        runloops_lower_event(signal.descriptor)
        return state.withLock { state in
            guard case .answered(let answer) = state else { return nil }
            state = .abandoned
            return answer
        }
    }

    func abandon() { state.withLock { $0 = .abandoned } }
}
