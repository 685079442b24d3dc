internal import RunLoops

/// The registry of a loop's connections and listeners.
///
/// It holds a group for each mode in use, the connections that wait for the end of the pass, and a buffer that all connections read
/// into.
///
/// > Thread safety: the loop's own thread only.
final class LoopStreams {
    let loop: RunLoop
    /// The value that calls handlers on behalf of the loop.
    private let handlers: HandlerCalls
    private var groups: [RunLoop.Mode: StreamGroup] = [:]

    private let state = ExclusivityUnchecked(State())

    /// The values that change often while connections are served.
    ///
    /// They are stored without exclusivity checks.
    private struct State {
        /// The connections for which ``Connection/settle(_:)`` will be called at the end of the pass.
        var unsettled: [Connection] = []

        /// The connections that are to be settled when the loop runs in one of their modes.
        ///
        /// The loop did not run in these modes at the end of the pass. So connections of other modes cost later passes nothing.
        var unsettledInModes: [RunLoop.Mode: [ObjectIdentifier: Unsettled]] = [:]

        /// The number of times that a connection was added to ``unsettledInModes``.
        var lastNumber: UInt64 = 0

        /// The moment at which the clock was last read; the clock is read again after each call of a handler.
        var now = Moment.now()

        /// The buffer that connections read into; nil before the first read, and while a connection is reading.
        var buffer: [UInt8]?
    }

    private struct Unsettled {
        let connection: Connection
        /// The order in which the connections of a mode are settled.
        let number: UInt64
    }

    /// The listeners that accept nothing because they have their maximum number of connections.
    private var fullListeners: [ObjectIdentifier: WeakListener] = [:]

    private struct WeakListener { weak var listener: Listener? }

    /// True once the loop has begun to end.
    private(set) var hasEnded = false

    /// The maximum number of bytes that a connection reads in one system call.
    static let bufferSize = 65_536

    private init(_ loop: RunLoop) {
        self.loop = loop
        handlers = loop.handlerCalls
        loop.addPassEndWork(self)
    }

    /// Returns the registry of a loop, which must be the loop of the calling thread.
    static func of(_ loop: RunLoop) -> LoopStreams {
        loop.companion(ObjectIdentifier(LoopStreams.self)) { LoopStreams(loop) }
    }

    // MARK: - Groups

    /// Returns the group of a mode; creates the group if the mode has none.
    ///
    /// - Throws: `SystemError` if the process cannot open more descriptors.
    func group(for mode: RunLoop.Mode, _ origin: SourceLocation) throws(SystemError) -> StreamGroup {
        if let known = groups[mode] { return known }
        let group = try StreamGroup(self, mode, origin)
        groups[mode] = group
        return group
    }

    /// Returns the group of a mode; nil if the mode has none.
    func knownGroup(for mode: RunLoop.Mode) -> StreamGroup? { groups[mode] }

    /// Releases a group, because its last member has left.
    func forget(_ group: StreamGroup) { if groups[group.mode] === group { groups[group.mode] = nil } }

    // MARK: - Listeners

    /// Records that a listener accepts nothing until one of its connections ends.
    func awaitRoom(_ listener: Listener) {
        fullListeners[ObjectIdentifier(listener)] = WeakListener(listener: listener)
    }

    /// Lets a listener accept again, because one of its connections has ended.
    ///
    /// If the listener was destroyed, the method does nothing.
    func listenerHasRoom(_ id: ObjectIdentifier) {
        guard let known = fullListeners.removeValue(forKey: id) else { return }
        known.listener?.hasRoom()
    }

    // MARK: - Time and handlers

    /// The moment at which the clock was last read; the clock is read again after each call of a handler.
    var now: Moment { state.value.now }

    /// Reads the clock, and stores the result in ``now``.
    func updateTime() { state.value.now = .now() }

    /// Calls a handler, and then reads the clock again.
    ///
    /// - Parameters:
    ///   - origin: The source location where the connection or listener was created.
    ///   - handler: A closure that calls the handler.
    func callHandler(_ origin: SourceLocation, _ handler: () -> Void) {
        handlers.call(origin, handler)
        updateTime()
    }

    /// Calls a handler of a member that reads the clock with ``updateTime()`` at the end of its turn.
    ///
    /// - Parameters:
    ///   - origin: The source location where the member was created.
    ///   - handler: A closure that calls the handler.
    func callInTurn(_ origin: SourceLocation, _ handler: () -> Void) { handlers.call(origin, handler) }

    // MARK: - Bytes

    /// Calls a function with the buffer that connections read into.
    ///
    /// The function may call handlers. If a handler runs the loop, connections read into another buffer during that run.
    func withBuffer<Result>(_ body: (inout [UInt8]) -> Result) -> Result {
        var taken = state.value.buffer.take() ?? [UInt8](repeating: 0, count: LoopStreams.bufferSize)
        defer { state.value.buffer = taken }
        return body(&taken)
    }

    // MARK: - The end of the pass

    /// Schedules a call of ``Connection/settle(_:)`` for the end of the pass.
    func settleLater(_ connection: Connection) { state.value.unsettled.append(connection) }

    /// The number of connections that the end of the next pass looks at, whatever mode the loop runs in.
    var unsettledCount: Int { state.value.unsettled.count }

    /// Records that ``Connection/settle(_:)`` was called for a connection before the end of the pass.
    ///
    /// If the connection is the last one in the list, it is removed from the list. This is the usual case, because the connection's
    /// own handler has just scheduled it. Otherwise, the connection stays in the list, and is skipped at the end of the pass.
    func didSettle(_ connection: Connection) {
        if connection.state.due.contains(.settlingInOtherMode) { return doNotSettleInModes(connection) }
        if state.value.unsettled.last === connection { state.value.unsettled.removeLast() }
    }
}

extension LoopStreams: DeferredWork {
    func holdsWork(for mode: RunLoop.Mode, isCommon: Bool) -> Bool {
        if state.value.unsettled.contains(where: { $0.isUnsettled(in: mode, isCommon: isCommon) }) {
            return true
        }
        if state.value.unsettledInModes.isEmpty { return false }
        return state.value.unsettledInModes[mode] != nil
            || isCommon && state.value.unsettledInModes[.common] != nil
    }

    func performWork(for mode: RunLoop.Mode, isCommon: Bool) {
        if !state.value.unsettledInModes.isEmpty {
            takeUnsettled(in: mode)
            if isCommon { takeUnsettled(in: .common) }
        }
        if state.value.unsettled.isEmpty { return }
        // When a connection is settled, other connections can be scheduled. The next call of this method settles those.
        var taken: [Connection] = []
        swap(&taken, &state.value.unsettled)
        updateTime()
        for connection in taken {
            if connection.isUnsettled(in: mode, isCommon: isCommon) {
                connection.settleAtPassEnd()
            } else if connection.places.isEmpty {
                connection.settleWhenAdded()
            } else {
                settleInModes(connection)
            }
        }
        taken.removeAll(keepingCapacity: taken.count <= 1024)
        if state.value.unsettled.isEmpty { swap(&taken, &state.value.unsettled) }
    }

    private func takeUnsettled(in mode: RunLoop.Mode) {
        guard let list = state.value.unsettledInModes[mode]?.values.sorted(by: { $0.number < $1.number })
        else {
            return
        }
        for unsettled in list {
            doNotSettleInModes(unsettled.connection)
            state.value.unsettled.append(unsettled.connection)
        }
    }

    private func settleInModes(_ connection: Connection) {
        guard connection.state.due.contains(.settling) else { return }
        connection.state.due.insert(.settlingInOtherMode)
        state.value.lastNumber += 1
        let unsettled = Unsettled(connection: connection, number: state.value.lastNumber)
        for place in connection.places.list {
            state.value.unsettledInModes[place.group.mode, default: [:]][ObjectIdentifier(connection)] =
                unsettled
        }
    }

    /// Removes a connection from the lists of all modes.
    func doNotSettleInModes(_ connection: Connection) {
        connection.state.due.remove(.settlingInOtherMode)
        for mode in Array(state.value.unsettledInModes.keys) {
            state.value.unsettledInModes[mode]?[ObjectIdentifier(connection)] = nil
            if state.value.unsettledInModes[mode]?.isEmpty == true {
                state.value.unsettledInModes[mode] = nil
            }
        }
    }

    func discardWork() {
        hasEnded = true
        let rest =
            state.value.unsettled
            + state.value.unsettledInModes.values.flatMap { $0.values.map(\.connection) }
        state.value.unsettled = []
        state.value.unsettledInModes = [:]
        for connection in rest { connection.loopEnds() }
    }
}
