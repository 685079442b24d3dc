internal import Glibc
internal import RunLoops

// A driver takes over a connection, receives and sends, and ends the connection or gives it back. The steps of receiving and sending
// are called in the driver's own turns, so they do not call handlers, and nothing of the connection is on the stack.

extension EpollSet.Interest {
    /// The readiness that a driven connection watches for: all that is new about its input.
    ///
    /// The driver knows what is left in the socket. So it costs nothing if a driver does not read, and it hears of a reset.
    static var driven: EpollSet.Interest { EpollSet.Interest.reading.union(.edge) }
}

extension Connection {
    /// Gives the connection to a driver, in place of all its handlers.
    ///
    /// Bytes that were written before are sent before those of the driver.
    ///
    /// - Parameter driver: The driver, which the connection holds until it ends or the driver lets it go.
    package func drive(by driver: any StreamDriver) {
        requireOwnThread("Connection.drive")
        if !isOpen { return }
        wakeReader()
        var replaced = Handlers()
        replaced.receiver = .driver(driver)
        swap(&replaced, &handlers)
        state.receiverVersion &+= 1
        state.due.remove(.frames)
        state.scanner = nil
        state.machine.onInputEnd = .notice
        state.machine.resume()
        if state.machine.isConnected { places.watch(for: .driven, state.socket.descriptor) }
        settleLater()
        // The replaced handlers are released last, because destroying an object that they hold can call the connection.
        withExtendedLifetime(replaced) {}
    }

    /// True if a driver receives and sends the bytes.
    var isDriven: Bool { if case .driver = handlers.receiver { true } else { false } }

    /// Takes the connection away from its driver, which puts back the bytes that it has received for nobody.
    ///
    /// The connection then has no handlers. The next receiver gets these bytes first.
    ///
    /// - Parameter unread: The bytes.
    package func endDriving(unread: RawSpan) {
        guard isDriven, isOpen else { return }
        let released = exchange(&handlers, with: Handlers())
        defer { withExtendedLifetime(released) {} }
        state.receiverVersion &+= 1
        state.machine.onInputEnd = .close
        state.input.prepend(unread)
        receiverDidChange()
    }

    /// Closes the connection immediately, and does not tell the driver.
    ///
    /// - Parameter isComplete: False if bytes that were to be sent are lost. The peer of a connection with TLS then sees that the
    ///   stream is not complete.
    package func endDriven(isComplete: Bool) {
        let released = exchange(&handlers, with: Handlers())
        end(isComplete ? .closed : .cancelled)
        withExtendedLifetime(released) {}
    }

    // MARK: - Receiving

    /// True if bytes are stored that were received before there was a driver; the driver receives these first.
    package var storesInput: Bool { !state.input.isEmpty }

    /// True if received bytes wait in the connection or its filter; the kernel does not report them.
    package var holdsInput: Bool { !state.input.isEmpty || state.socket.holdsInput }

    /// Receives bytes for the driver, without waiting.
    ///
    /// - Parameter buffer: The memory for the bytes.
    /// - Returns: The number of bytes, or why there is none. If the connection has ended, `nothing`.
    package func receive(into buffer: UnsafeMutableRawBufferPointer) -> StreamReceipt {
        guard isOpen, state.machine.isConnected, buffer.count > 0 else { return .nothing }
        if !state.input.isEmpty { return .bytes(unsafe state.input.move(to: buffer)) }
        let receipt = unsafe state.socket.receive(into: buffer)
        if case .bytes(let count) = receipt {
            state.received += count
            state.deadlines.didReceive(at: .now())
        }
        // A filter answers some messages of the peer by itself.
        if state.socket.holdsOutput { settleLater() }
        return receipt
    }

    // MARK: - Sending

    /// The descriptor that is read, for system calls of the driver; -1 if there is none.
    package var drivenDescriptor: CInt { state.socket.descriptor }

    /// Where the driver sends its bytes.
    package var drivenOutput: DrivenOutput { state.socket.drivenOutput }

    /// Takes the error that the kernel has for the driver, which the call clears; 0 for none.
    package func takeDrivenError() -> CInt { state.socket.takeError() }

    /// Ends the stream from the peer, for sockets; other descriptors are only no longer read.
    ///
    /// - Returns: The error of the kernel; 0 for none.
    package func endDrivenInput() -> CInt { state.socket.endInput() }

    /// True if the driver may send now: the connection is made, and all bytes that were written before are sent.
    package var isReadyToSend: Bool {
        guard isOpen, state.machine.isConnected else { return false }
        if !state.output.isEmpty { sendNow() }
        return state.output.isEmpty && !state.machine.hasEnded
    }

    /// Records that the kernel has accepted bytes of the driver.
    ///
    /// - Parameter count: The number of bytes.
    package func didSend(_ count: Int) {
        state.sent += count
        state.deadlines.didSend(at: .now(), hasUnsent: false)
    }

    /// Asks the kernel to report when it accepts bytes again.
    ///
    /// Until then, ``Options/writeTimeout`` runs.
    package func awaitSpace() {
        guard isOpen, !state.output.isBlocked else { return }
        state.output.isBlocked = true
        state.deadlines.didBlock(at: .now())
        updateInterest()
        updateTimer()
    }

    /// Ends the stream to the peer; the driver has sent all its bytes.
    ///
    /// - Returns: The error of the kernel; 0 for none.
    package func endDrivenOutput() -> CInt {
        guard isOpen, state.machine.takesOutput else { return EPIPE }
        state.machine.endOutput()
        guard case .endOutput = state.machine.nextStep(hasUnsent: false) else { return EPIPE }
        let code = state.socket.endOutput()
        if state.socket.holdsOutput { settleLater() }
        return code
    }

    // MARK: - Serving

    /// Passes a report of the kernel to the driver, and continues the opening exchange.
    func serve(
        _ readiness: EpollSet.Interest, for driver: any StreamDriver, in loop: LoopStreams,
        _ budget: inout Budget
    ) {
        if state.machine.isConnected {
            let news = StreamReadiness(readiness)
            if !news.isEmpty { driver.connectionIsReady(news) }
        } else {
            openFilter(loop.now, &budget)
            if readiness.contains(.error) { noteError() }
        }
        state.due.remove(.idleCheck)
        _ = settle(loop.now)
        if state.due.contains(.settling) {
            loop.didSettle(self)
            state.due.subtract([.settling, .settlingInOtherMode])
        }
    }
}

extension StreamReadiness {
    fileprivate init(_ readiness: EpollSet.Interest) {
        self = []
        if !readiness.isDisjoint(with: .received) { insert(.bytes) }
        if !readiness.isDisjoint(with: [.hangUp, .closed]) { insert(.end) }
        if readiness.contains(.error) { formUnion([.bytes, .end, .error]) }
        if !readiness.isDisjoint(with: .writing) { insert(.space) }
    }
}
