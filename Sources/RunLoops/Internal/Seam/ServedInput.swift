/// An input of one loop that another module of the package implements.
///
/// The loop watches one descriptor for the input. When the descriptor is ready, or after ``becameReady()``, the input waits in the
/// queue of the ports. The loop serves the input in the same step and within the same budget as the ports. If a handler of the
/// input runs the loop, that run continues to serve the input.
///
/// The module provides an object that serves the input, an ``InputServer``. The input holds that object while the input is in the
/// loop.
///
/// > Thread safety: the loop's own thread only.
package final class ServedInput: SignalledInput {
    private let loop: LoopCore
    /// The descriptor source through which the loop watches the input's descriptor, in the same modes as the input.
    let watch: DescriptorSource
    /// The state is stored without exclusivity checks because the loop accesses it for each message; see ``ExclusivityUnchecked``.
    private let state = ExclusivityUnchecked(State())

    private struct State {
        var membership = Membership()
        /// The object that represents this input in the loop's queue of ready inputs; nil before the input joins its first mode,
        /// and after the input has left the loop.
        var signal: ReadyNode?
        var server: (any InputServer)?
    }

    /// Prepares an input for the loop of the calling thread.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor that the loop watches for reading. The caller owns it, and keeps it open while the input is
    ///     in the loop.
    ///   - isSet: True if the descriptor is an epoll set.
    ///   - origin: The source location, in the program's code, that diagnostics name.
    ///   - loop: The loop of the calling thread.
    package init(_ descriptor: CInt, isSet: Bool = false, _ origin: SourceLocation, in loop: RunLoop) {
        self.loop = loop.core("RunLoop.add(input)", "perform a block on the loop and add it there")
        watch = DescriptorSource(descriptor, interest: .read, watchesSet: isSet, origin: origin) { _, _ in
            false
        }
        // The watch is in the loop only while this input is.
        watch.relay = { [unowned self] in becameReady() }
    }

    // MARK: - Modes

    /// Puts the input into a mode, or into all common modes.
    ///
    /// - Parameters:
    ///   - mode: The mode.
    ///   - server: The module's object that serves the input. The input holds it until the input has left the loop.
    /// - Throws: `SystemError` if the kernel refuses to watch the descriptor. In that case the input is unchanged.
    package func join(_ mode: RunLoop.Mode, server: any InputServer) throws(SystemError) {
        try watch.join(loop.descriptors, mode)
        if state.value.signal == nil {
            let signal = ReadyNode(handle: loop.handle, input: self)
            state.value.signal = signal
            state.value.server = server
        }
        loop.readyInputs.add(self, to: mode)
    }

    /// Removes the input from a mode, or from all common modes.
    package func leave(_ mode: RunLoop.Mode) {
        loop.descriptors.remove(watch, from: mode)
        loop.members.remove(self, from: mode)
    }

    /// Removes the input from all its modes.
    package func leave() { loop.members.remove(self) }

    /// The modes that the input is in, in no particular order.
    package var modes: [RunLoop.Mode] { isInLoop ? state.value.membership.modes : [] }

    /// True while the input is in a mode of its loop.
    ///
    /// Check this again after each call of a user's handler, because the handler can remove the input.
    package var isInLoop: Bool { state.value.signal != nil }

    /// Returns true if the input is in its loop, and the loop serves it in a mode.
    ///
    /// Call this before each call of a user's handler: the removals that other threads have handed over take effect first.
    package func isServed(in mode: RunLoop.Mode) -> Bool {
        if loop.members.wasHandedOver { loop.members.takeHandOvers() }
        return isInLoop && state.value.membership.contains(mode)
    }

    /// The same for the mode that the loop is running in.
    package var isServedNow: Bool { currentMode.map { isServed(in: $0) } ?? false }

    /// The common modes of the input's loop, in no particular order.
    package var commonModes: [RunLoop.Mode] { loop.members.modes.common }

    // MARK: - Serving

    /// The mode in which the loop is running; nil between runs.
    ///
    /// If runs are nested, this is the mode of the innermost run.
    package var currentMode: RunLoop.Mode? { loop.members.currentMode }

    /// Schedules the input to be served, even if the descriptor is not ready.
    package func becameReady() {
        if let signal = state.value.signal { loop.readyInputs.becameReady(signal) }
    }

    /// Calls a handler of the program, and times, watches or records the call if the program has asked for that.
    ///
    /// - Parameters:
    ///   - origin: The source location at which the program passed in the handler.
    ///   - handler: A closure that calls the handler of the program.
    package func callHandler(_ origin: SourceLocation, _ handler: () -> Void) {
        loop.members.handlers.call(origin, handler)
    }

    /// Adds 1 to the loop's count of messages, for a message that is about to be passed to a handler.
    package func countMessage() { loop.handle.counters.portMessages.add() }
}

/// The part of a ``ServedInput`` that another module implements.
///
/// > Thread safety: the thread of the input's loop only.
package protocol InputServer: Inspected {
    /// Serves the messages or descriptors that are ready.
    ///
    /// - Parameters:
    ///   - mode: The mode that the loop runs in.
    ///   - budget: The budget that all inputs of this step of the pass share. It allows at least one message. Call `spend` before
    ///     each smallest step, and pass the budget on to the code that makes the steps. If `spend` refuses, return with `hasMore`.
    /// - Returns: The outcome.
    func serve(in mode: RunLoop.Mode, _ budget: inout Budget) -> Served

    /// Called when the input has left its last mode, or its loop ends.
    ///
    /// The input has released the server before this call. If the input joins a loop again, the method is called again when the
    /// input leaves that loop.
    func didLeaveLoop()
}

// The members that the loop uses.
extension ServedInput {
    var membership: Membership {
        @inline(__always) _read { yield state.value.membership }
        @inline(__always) _modify { yield &state.value.membership }
    }

    /// The descriptions of the input and of what it contains, for an inspector.
    var parts: [InspectedPart] { state.value.server?.parts ?? [] }

    var keepsModeAlive: Bool { true }
    var unservedParts: [Unserved] { parts.map { Unserved($0.kind, madeAt: $0.madeAt) } }
    var step: SignalledStep { .ports }

    func serve(in loop: ReadyInputs, _ signal: ReadyNode, _ budget: inout Budget) -> Served {
        guard state.value.signal != nil, let server = state.value.server,
            let mode = loop.members.currentMode
        else {
            return Served()
        }
        loop.beginServing(signal)
        defer { loop.endServing() }
        return server.serve(in: mode, &budget)
    }

    func didLeave(_ loop: LoopMembers) {
        guard let signal = state.value.signal else { return }
        signal.input = nil
        state.value.signal = nil
        let server = state.value.server.take()
        if watch.membership.loop === loop { loop.remove(watch) }
        server?.didLeaveLoop()
    }
}
