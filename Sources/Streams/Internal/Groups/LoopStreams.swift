internal import RunLoops

/// The streams of one loop: a group for each mode in use, the work that waits for the end of the pass, and a buffer that all
/// connections read into.
///
/// > Thread safety: the loop's own thread only.
final class LoopStreams {
    let loop: RunLoop
    /// The value that calls handlers on behalf of the loop.
    private let handlers: HandlerCalls
    private var groups: [RunLoop.Mode: StreamGroup] = [:]

    private let state = ExclusivityUnchecked(State())

    /// The values that change as connections are served, stored without exclusivity checks.
    private struct State {
        /// The connections that have something to do at the end of the pass.
        var unsettled: [Connection] = []

        /// The moment at which the clock was last read; the clock is read again after each call of a handler.
        var now = Moment.now()

        /// The buffer that connections read into; nil before the first read, and while a connection uses it.
        var buffer: [UInt8]?
    }

    /// The listeners that accept nothing because they have their maximum number of connections.
    private var fullListeners: [ObjectIdentifier: WeakListener] = [:]

    private struct WeakListener { weak var listener: Listener? }

    /// True once the loop has begun to end.
    private(set) var hasEnded = false

    /// The maximum number of bytes of one read.
    static let bufferSize = 65_536

    private init(_ loop: RunLoop) {
        self.loop = loop
        handlers = loop.handlerCalls
        loop.addPassEndWork(self)
    }

    /// Returns the streams of a loop; the loop must be that of the calling thread.
    static func of(_ loop: RunLoop) -> LoopStreams {
        loop.companion(ObjectIdentifier(LoopStreams.self)) { LoopStreams(loop) }
    }

    // MARK: - Groups

    /// Returns the group of a mode, and creates it if the mode has none.
    ///
    /// - Throws: `SystemError` if the process may open no more descriptors.
    func group(for mode: RunLoop.Mode, _ origin: SourceLocation) throws(SystemError) -> StreamGroup {
        if let known = groups[mode] { return known }
        let group = try StreamGroup(self, mode, origin)
        groups[mode] = group
        return group
    }

    /// The group of a mode, if it has one.
    func knownGroup(for mode: RunLoop.Mode) -> StreamGroup? { groups[mode] }

    /// Releases a group that has lost its last member.
    func forget(_ group: StreamGroup) { if groups[group.mode] === group { groups[group.mode] = nil } }

    // MARK: - Listeners

    /// Records that a listener accepts nothing until one of its connections ends.
    func awaitRoom(_ listener: Listener) {
        fullListeners[ObjectIdentifier(listener)] = WeakListener(listener: listener)
    }

    /// Lets a listener accept again because one of its connections has ended; does nothing if the listener was destroyed.
    func listenerHasRoom(_ id: ObjectIdentifier) {
        guard let known = fullListeners.removeValue(forKey: id) else { return }
        known.listener?.hasRoom()
    }

    // MARK: - Time and handlers

    /// The moment at which the clock was last read; the clock is read again after each call of a handler.
    var now: Moment { state.value.now }

    /// Reads the clock.
    func updateTime() { state.value.now = .now() }

    /// Calls a handler, and reads the clock again.
    ///
    /// - Parameters:
    ///   - origin: The place in the program where the handler's owner was made.
    ///   - handler: The call.
    func callHandler(_ origin: SourceLocation, _ handler: () -> Void) {
        handlers.call(origin, handler)
        updateTime()
    }

    // MARK: - Bytes

    /// Calls a function with the buffer that connections read into.
    ///
    /// If a handler that is called with these bytes runs the loop, connections read into another buffer during that run.
    func withBuffer<Result>(_ body: (inout [UInt8]) -> Result) -> Result {
        var taken = state.value.buffer.take() ?? [UInt8](repeating: 0, count: LoopStreams.bufferSize)
        defer { state.value.buffer = taken }
        return body(&taken)
    }

    // MARK: - The end of the pass

    /// Schedules a connection to be settled at the end of the pass.
    func settleLater(_ connection: Connection) { state.value.unsettled.append(connection) }

    /// Records that a connection has settled before the end of the pass.
    ///
    /// Usually the connection's handler has scheduled the connection just before, so the connection is the last in the list. It is
    /// then removed from the list, and leaves no work for the end of the pass.
    func didSettle(_ connection: Connection) {
        if state.value.unsettled.last === connection { state.value.unsettled.removeLast() }
    }
}

extension LoopStreams: DeferredWork {
    func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        !state.value.unsettled.isEmpty
            && state.value.unsettled.contains { $0.isUnsettled(in: mode, isCommon: isCommon) }
    }

    func performWork(for mode: RunLoop.Mode, isCommon: Bool) {
        if state.value.unsettled.isEmpty { return }
        // Settling a connection can schedule other connections. The next call of this method settles those.
        var taken: [Connection] = []
        swap(&taken, &state.value.unsettled)
        updateTime()
        for connection in taken {
            if connection.isUnsettled(in: mode, isCommon: isCommon) {
                connection.settleAtPassEnd()
            } else if connection.places.isEmpty {
                connection.settleWhenAdded()
            } else {
                state.value.unsettled.append(connection)
            }
        }
        taken.removeAll(keepingCapacity: taken.count <= 1024)
        if state.value.unsettled.isEmpty { swap(&taken, &state.value.unsettled) }
    }

    func discardWork() {
        hasEnded = true
        let rest = state.value.unsettled
        state.value.unsettled = []
        for connection in rest { connection.loopEnds() }
    }
}
