internal import CRunLoops
internal import RunLoops

/// Resolves host names for the whole process, on a few threads of its own, because the system's resolver blocks.
///
/// A thread that waits for a name server cannot be interrupted, and no other interface of the C library changes that:
/// `getaddrinfo_a` has threads of its own, and cannot cancel a name that one of them looks up. So the number of threads is bounded
/// twice. At most ``useLimit`` look up names that somebody awaits. If nobody awaits a name any more, its thread no longer counts
/// among these, and at most ``threadLimit`` threads exist. When all of them are stuck, further names wait in order, until those who
/// asked for them give up, and one report says so. A name is looked up once for all who ask for it meanwhile. Addresses and
/// `localhost` need no thread; see ``answer(host:port:)``.
///
/// A thread ends when no name is waiting.
///
/// > Thread safety: any thread.
package final class NameResolver: Sendable {
    /// The resolver of the process.
    package static let shared = NameResolver(lookUp: NameResolver.addresses(of:))

    /// The maximum number of threads that are given names, as long as somebody awaits each.
    package static let useLimit = 4
    /// The maximum number of threads, with those whose names nobody awaits any more.
    package static let threadLimit = 20
    /// The maximum number of addresses of a name.
    package static let addressLimit = 16
    /// The size of a thread's stack in bytes.
    private static let stackSize = 262_144

    package typealias Handler = @Sendable (NameAnswer) -> Void

    /// The right to an answer, with which it can be given up.
    package struct Ticket: Sendable { fileprivate let inQueue: ResolverQueue<Handler>.Ticket }

    private struct State: Sendable {
        var queue = ResolverQueue<Handler>(useLimit: useLimit, threadLimit: threadLimit)
        /// True if a report has said that names wait because all threads are stuck, and this has not changed since.
        var hasReported = false
    }

    private let state = Guarded(State())

    /// Returns the addresses of a name, with the port 0; blocks.
    private let lookUp: @Sendable (String) -> NameAnswer

    /// Makes a resolver with threads of its own.
    ///
    /// - Parameter lookUp: Returns the addresses of a name; called on the resolver's threads.
    init(lookUp: @escaping @Sendable (String) -> NameAnswer) { self.lookUp = lookUp }

    /// The number of threads, and the number of those whose names nobody awaits any more.
    var threadCounts: (all: Int, abandoned: Int) {
        state.withLock { ($0.queue.threadCount, $0.queue.abandonedCount) }
    }

    /// Asks for the addresses of a name.
    ///
    /// - Parameters:
    ///   - name: The name, for which ``answer(host:port:)`` has no answer.
    ///   - handler: Called once with the addresses, whose port is 0, or the reason that there are none, unless the answer is given up
    ///     before. It is called on a thread of the resolver or, if there can be no thread, in this call.
    /// - Returns: The ticket with which the answer can be given up.
    package func ask(_ name: String, _ handler: @escaping Handler) -> Ticket {
        let (added, isStuck) = state.withLock { state in
            let added = state.queue.add(handler, for: name)
            let isStuck = state.queue.isStuck && !state.hasReported
            state.hasReported = state.queue.isStuck
            return (added, isStuck)
        }
        if isStuck {
            RunLoopDiagnostics.report(
                "names wait, because the name servers do not answer \(NameResolver.threadLimit) earlier look-ups"
            )
        }
        if added.startsThread { startThread() }
        return Ticket(inQueue: added.ticket)
    }

    /// Gives up an answer that nobody awaits any longer; does nothing if it was given.
    ///
    /// The handler can still be called during this call, on another thread.
    package func giveUp(_ ticket: Ticket) {
        // The handler is released here, outside the lock.
        let (released, startsThread) = state.withLock { $0.queue.remove(ticket.inQueue) }
        withExtendedLifetime(released) {}
        if startsThread { startThread() }
    }

    private func startThread() {
        do throws(SystemError) {
            try DetachedThread.start(
                name: "resolver", stackSize: NameResolver.stackSize, blocksSignals: true
            ) { [self] in work() }
        } catch {
            let stranded = state.withLock { $0.queue.threadWasRefused() }
            for handler in stranded { handler(.failure(.failed(error))) }
        }
    }

    private func work() {
        while let name = state.withLock({ $0.queue.next() }) {
            let answer = lookUp(name)
            let handlers = state.withLock { $0.queue.finish(name) }
            for handler in handlers { handler(answer) }
        }
    }

    /// Asks the system's resolver for the addresses of a name; blocks.
    private static func addresses(of name: String) -> NameAnswer {
        let size = runloops_address_capacity
        var bytes = [UInt8](repeating: 0, count: addressLimit * size)
        var lengths = [UInt32](repeating: 0, count: addressLimit)
        var code: CInt = 0
        // Safe: the C function writes at most `addressLimit` addresses, for which the arrays have room.
        let count = unsafe runloops_resolve(name, &bytes, &lengths, CInt(addressLimit), &code)
        if count <= 0 {
            if code != 0 { return .failure(.failed(SystemError(call: "getaddrinfo", code: code))) }
            return .failure(.unresolved(ResolutionError(host: name, resolverCode: count)))
        }
        return .success(
            (0..<Int(count)).map { index in
                let rest = bytes.dropFirst(index * size)
                return SocketAddress(kernel: Array(rest.prefix(Int(lengths[index]))))
            })
    }
}
