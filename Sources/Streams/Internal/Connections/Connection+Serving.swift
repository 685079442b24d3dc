internal import Glibc
internal import RunLoops

// The connection's answers to the loop's reports of readiness, and the handling of received bytes. The steps that follow from these
// events are in `Connection+Settling`.

extension Connection: StreamMember {
    func serve(_ readiness: EpollSet.Interest, in loop: LoopStreams, _ budget: inout Budget) -> Bool {
        if state.machine.isCalling {
            // One of the connection's handlers has run the loop, and that run has made this call. The readiness is reported again
            // when the handler has returned.
            places.watch(for: .edge, watchedDescriptor)
            if readiness.isEmpty { state.due.insert(.service) }
            return false
        }
        if !end.isUntouched && !(isAdmitted && isInRunningMode(since: -1)) { return false }
        var handled = false
        let now = loop.now
        if let connecting, !state.machine.isConnected { connecting.goOn(self, now) }
        if !readiness.isDisjoint(with: .writing) { state.output.isBlocked = false }
        if case .driver(let driver) = handlers.receiver {
            serve(readiness, for: driver, in: loop, &budget)
            return false
        }
        let delivers = readiness.isEmpty || state.due.contains(.frames)
        if delivers && !state.input.isEmpty && deliverStored(&budget) { handled = true }
        let mayReceive = !readiness.isDisjoint(with: .received) || state.due.contains(.idleCheck)
        if mayReceive || state.socket.holdsInput {
            if receive(readiness, loop, &budget) { handled = true }
        }
        if !state.machine.isConnected { openFilter(now, &budget) }
        // The bytes that arrived before an error are received first.
        if readiness.contains(.error) { noteError() }
        // Pipes and terminals report only that they are closed.
        if !readiness.isDisjoint(with: [.hangUp, .closed]) { noteEnd() }
        if readiness.contains(.closed) { noteHangUp() }
        if state.due.contains(.idleCheck) {
            state.due.remove(.idleCheck)
            endIfOverdue(at: loop.now)
        }
        if settle(loop.now) { handled = true }
        if state.due.contains(.settling) {
            loop.didSettle(self)
            state.due.subtract([.settling, .settlingInOtherMode])
        }
        return handled
    }

    func loopEnds() {
        places.forget()
        connecting?.loopEnds()
        // If a handler has ended the thread, that handler never returns. So its call is recorded as over here.
        if state.machine.isCalling { state.machine.endCall() }
        state.machine.end(.loopEnded)
        _ = settle(.now())
    }

    func noteError() {
        if !isOpen || connecting != nil { return }
        let code = state.socket.takeError()
        if code != 0 { state.machine.end(Connection.reason(code, "recv")) }
    }

    /// Records the end of the peer's stream if no receiver is set.
    ///
    /// Without a receiver, the connection reads nothing, and so it would not notice the end by reading.
    private func noteEnd() {
        guard case .none = handlers.receiver else { return }
        if !state.machine.isConnected || state.machine.isPaused || state.socket.holdsInput
            || !state.socket.isAtEnd
        {
            return
        }
        // The filter, if there is one, has no bytes left to deliver. It reports whether the stream has ended properly.
        var rest: [UInt8] = [0]
        switch state.socket.receive(into: &rest, upTo: 1) {
        case .end: state.machine.didEndInput(isComplete: true)
        case .failed(let reason): state.machine.end(reason)
        case .bytes, .nothing: break
        }
    }

    /// Ends the connection if the other end is closed, and so nobody reads the unsent bytes.
    ///
    /// A socket accepts bytes then, with an error. The end of a terminal that an emulator has accepts none, and the kernel reports
    /// the hang-up in each pass. What has arrived is received first, unless nobody receives.
    private func noteHangUp() {
        if !state.output.isBlocked || state.machine.wantsInput(hasReceiver: hasReceiver) { return }
        state.machine.end(.reset)
    }

    /// Returns the end reason for an error code of the kernel.
    package static func reason(_ code: CInt, _ call: String) -> EndReason {
        switch code {
        case ECONNRESET, EPIPE, ENOTCONN: .reset
        case ETIMEDOUT where call != "connect": .reset
        default: .failed(SystemError(call: call, code: code))
        }
    }

    // MARK: - Receiving

    var hasReceiver: Bool {
        switch handlers.receiver {
        case .none: false
        case .bytes, .frames: true
        case .task(let reader): reader.wantsInput(stored: state.input.count)
        case .driver(let driver): driver.wantsInput
        }
    }

    /// The maximum number of times that a connection reads before the loop serves other inputs.
    private static var mostReads: Int { 4 }

    /// The maximum number of frames of one read that are delivered before the loop serves other inputs.
    ///
    /// The budget bounds the time of all inputs together. This bounds the share of one connection, so that many connections with
    /// many small frames keep the others waiting for a short time only.
    private static var mostCalls: Int { 32 }

    /// Reads the bytes that have arrived, and gives them to the connection's receiver.
    ///
    /// - Returns: True if a handler was called or a task reads the bytes.
    private func receive(_ readiness: EpollSet.Interest, _ loop: LoopStreams, _ budget: inout Budget) -> Bool
    {
        loop.withBuffer { buffer in
            var handled = false
            let version = places.version
            for read in 0..<Connection.mostReads {
                let hasReceiver = hasReceiver
                if !isInRunningMode(since: version) || !state.wantsInput(hasReceiver: hasReceiver) {
                    return handled
                }
                // The kernel reports again what is left in it, and `updateInterest` asks for what is left in a filter.
                if read > 0 && !budget.spend() { return handled }
                switch state.socket.receive(into: &buffer, upTo: state.readSize) {
                case .bytes(let count):
                    state.received += count
                    state.deadlines.didReceive(at: loop.now)
                    if !state.machine.isClosing,
                        deliver(unsafe buffer.span.bytes.extracting(first: count), &budget)
                    {
                        handled = true
                        // The connection was not idle while its handler ran.
                        state.deadlines.didReceive(at: loop.now)
                    }
                    // If the buffer is only partly filled, all bytes have been read. Only the end of the stream can be left, if the
                    // kernel has reported it.
                    if count < min(buffer.count, state.readSize) && !readiness.contains(.hangUp)
                        && !state.socket.holdsInput
                    {
                        return handled
                    }
                case .end:
                    if case .task(let reader) = handlers.receiver, !state.machine.isClosing {
                        readerSeesEnd(reader)
                        return handled
                    }
                    // The stored input can contain frames that were received while the connection was paused.
                    if case .frames = handlers.receiver, !state.input.isEmpty {
                        if deliverStored(&budget) { handled = true }
                        // The end is read again when the connection resumes reading.
                        if state.machine.isPaused || state.due.contains(.frames) { return handled }
                    }
                    state.machine.didEndInput(isComplete: state.input.isEmpty)
                    return handled
                case .nothing: return handled
                case .failed(let reason):
                    state.machine.didFailInput(reason)
                    return handled
                }
            }
            return handled
        }
    }

    /// Gives the handler the stored bytes and then `bytes`, and stores the bytes that the handler does not consume.
    private func deliver(_ bytes: RawSpan, _ budget: inout Budget) -> Bool {
        if !state.input.isEmpty {
            state.input.append(bytes)
            return deliverStored(&budget)
        }
        let (consumed, handled) = offer(bytes, &budget)
        if consumed < bytes.byteCount && isOpen {
            state.input.append(bytes.extracting(droppingFirst: consumed))
            checkInputLimit()
        }
        return handled
    }

    private func deliverStored(_ budget: inout Budget) -> Bool {
        guard state.machine.delivers else { return false }
        state.due.remove(.frames)
        // The stored bytes are moved out of `state` during the call, because a handler may run the loop or replace itself.
        var taken = InputBuffer()
        swap(&taken, &state.input)
        let (consumed, handled) = taken.withBytes { offer($0, &budget) }
        if isOpen {
            taken.consume(consumed)
            swap(&taken, &state.input)
            checkInputLimit()
        }
        return handled
    }

    /// Offers received bytes to the connection's receiver.
    ///
    /// A handler of bytes gets all bytes, and a handler of frames gets one frame after the other. If a task reads from the
    /// connection, the task is woken.
    ///
    /// If a handler sets another receiver, that receiver gets the bytes that are left.
    ///
    /// - Returns: The number of bytes that were consumed, and true if a handler was called or a task reads the bytes.
    private func offer(_ bytes: RawSpan, _ budget: inout Budget) -> (consumed: Int, handled: Bool) {
        var consumed = 0
        var calls = 0
        var handled: Bool { calls > 0 }
        let version = places.version
        while isAdmitted && state.machine.delivers && consumed < bytes.byteCount {
            if !isInRunningMode(since: version) {
                // The handler has removed the connection from the running mode. The rest of the bytes is delivered in another mode.
                places.askToBeServed()
                return (consumed, handled)
            }
            if calls > 0, calls == Connection.mostCalls || !budget.spend() {
                state.due.insert(.frames)
                places.askToBeServed()
                return (consumed, handled)
            }
            let rest = bytes.extracting(droppingFirst: consumed)
            switch handlers.receiver {
            case .none, .driver: return (consumed, handled)
            case .task:
                wakeReader()
                return (consumed, true)
            case .bytes(let handler):
                var count = 0
                let receiverVersion = state.receiverVersion
                call { count = handler(self, rest) }
                calls += 1
                if count < 0 || count > rest.byteCount {
                    misuse(
                        "Connection.onReceive: the handler of the \(self) returned \(count) of \(rest.byteCount) bytes; "
                            + "return the number of bytes that it has consumed")
                }
                consumed += count
                // If the handler has not set another receiver, it waits for more bytes. A new receiver can consume the bytes that
                // are left.
                if receiverVersion == state.receiverVersion { return (consumed, handled) }
            case .frames(let handler):
                switch state.scanner?.next(in: rest) {
                case .frame(let range, let length):
                    consumed += length
                    call { handler(self, rest.extracting(range)) }
                    calls += 1
                case .beyond(let limit): state.machine.end(.limit(limit))
                case .incomplete, nil: return (consumed, handled)
                }
            }
        }
        return (consumed, handled)
    }

    /// True if the connection is still in the mode that the loop runs in.
    ///
    /// - Parameter version: The version that ``places`` had when the connection was last known to be in the loop's mode.
    /// - Returns: False if the loop runs in another mode, or the connection is in no mode.
    private func isInRunningMode(since version: Int) -> Bool {
        if places.version == version { return !places.isEmpty }
        return !places.isEmpty && streams?.loop.isIdleOrRuns(inOneOf: modes) ?? false
    }

    private func checkInputLimit() {
        if case .bytes = handlers.receiver, state.input.count >= state.options.inputLimit,
            !state.machine.isClosing
        {
            state.machine.end(.limit(.input(state.options.inputLimit)))
        }
    }

    // MARK: - Calling

    /// Calls a handler, and marks the connection as busy during the call.
    ///
    /// No other handler of the connection is called until this one has returned.
    func call(_ body: () -> Void) {
        guard let streams else { return }
        state.machine.beginCall()
        streams.callHandler(origin, body)
        state.machine.endCall()
    }
}
