internal import RunLoops

/// A container that keeps tokens, and ends their observations when it is emptied or destroyed.
///
/// Keep the bag in a stored property of the object that observes, so that the observations end with that object:
///
/// ```swift
/// final class Monitor: Sendable {
///     private let observations = ObservationBag()
///     func start(_ center: NotificationCenter) {
///         observations.add(center.addObserver(forName: .didConnect) { _ in print("connected") })
///     }
/// }
/// ```
///
/// In an optimized build, Swift can destroy a local variable after its last use instead of at the end of its scope. This
/// applies to a bag, a token and an array of tokens alike. If you keep one of them in a local variable, use it at the end of
/// the scope, for example with `defer { bag.removeAll() }`.
///
/// > Thread safety: any thread.
public final class ObservationBag: Sendable {
    private let tokens = ForkSafe<[ObservationToken]>([])

    /// Makes an empty bag.
    public init() {}

    /// Adds a token to the bag.
    ///
    /// - Parameter token: The token. If the token also has other owners, destroying the bag does not end the observation, but
    ///   emptying the bag does.
    ///
    /// > Thread safety: any thread.
    public func add(_ token: ObservationToken) { tokens.withLock { $0.append(token) } }

    /// Ends the observations of all tokens in the bag, and empties the bag.
    ///
    /// Calls ``ObservationToken/remove()`` for each token, in the order in which they were added.
    ///
    /// > Thread safety: any thread, even inside the handlers of these observations.
    public func removeAll() {
        for token in takeAll() { token.remove() }
    }

    /// Ends the observations of all tokens in the bag, empties the bag, and waits until no call of their handlers is running.
    ///
    /// Awaits ``ObservationToken/removed()`` for each token. No call of any of the handlers starts once the first wait has begun.
    ///
    /// > Thread safety: any task.
    public func allRemoved() async {
        let tokens = takeAll()
        for token in tokens { token.remove() }
        for token in tokens { await token.removed() }
    }

    /// Ends the observations of all tokens in the bag, empties the bag, and waits until no call of their handlers is running.
    ///
    /// Calls ``ObservationToken/removeAndWait(fileID:line:)`` for each token. No call of any of the handlers starts once the
    /// first wait has begun.
    ///
    /// - Parameters:
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    /// - Precondition: The same as for ``ObservationToken/removeAndWait(fileID:line:)``.
    ///
    /// > Thread safety: any thread. Not in asynchronous code.
    @available(*, noasync, message: "this blocks the thread; await allRemoved() instead")
    public func removeAllAndWait(fileID: StaticString = #fileID, line: Int = #line) {
        let tokens = takeAll()
        for token in tokens { token.remove() }
        for token in tokens { token.removeAndWait(fileID: fileID, line: line) }
    }

    private func takeAll() -> [ObservationToken] {
        tokens.withLock { tokens in
            defer { tokens = [] }
            return tokens
        }
    }
}
