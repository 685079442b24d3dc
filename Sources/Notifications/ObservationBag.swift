internal import RunLoops

/// An owner of tokens: their observations go on until it is emptied or destroyed.
///
/// Keep it in a stored property of the object that observes. Then the observations end with that object:
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
/// In an optimized build Swift may destroy a local variable after its last use, and not at the end of its scope. That
/// holds for a bag, a token and an array of tokens alike. Where you keep one in a local variable, use it at the end of the scope:
/// `defer { bag.removeAll() }`.
///
/// > Thread safety: any thread.
public final class ObservationBag: Sendable {
    private let tokens = ForkSafe<[ObservationToken]>([])

    /// Makes an empty bag.
    public init() {}

    /// Adds a token, which the bag keeps.
    ///
    /// - Parameter token: The token; the bag shares it with all other owners of the token.
    ///
    /// > Thread safety: any thread.
    public func add(_ token: ObservationToken) { tokens.withLock { $0.append(token) } }

    /// Ends the observations of all tokens in the bag, and empties the bag.
    ///
    /// As ``ObservationToken/remove()`` for each of them, in the order in which they were added.
    ///
    /// > Thread safety: any thread, also that of a handler of theirs.
    public func removeAll() {
        for token in takeAll() { token.remove() }
    }

    /// Ends the observations of all tokens in the bag, empties the bag, and waits until no call of their handlers runs.
    ///
    /// As ``ObservationToken/removed()`` for each of them: no call of any handler starts once the first wait has begun.
    ///
    /// > Thread safety: any task.
    public func allRemoved() async {
        let tokens = takeAll()
        for token in tokens { token.remove() }
        for token in tokens { await token.removed() }
    }

    /// Ends the observations of all tokens in the bag, empties the bag, and waits until no call of their handlers runs.
    ///
    /// As ``ObservationToken/removeAndWait(fileID:line:)`` for each of them: no call of any handler starts once the first wait has
    /// begun.
    ///
    /// - Parameters:
    ///   - fileID: Where it is called, for diagnostics.
    ///   - line: Where it is called, for diagnostics.
    /// - Precondition: As for ``ObservationToken/removeAndWait(fileID:line:)``.
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
