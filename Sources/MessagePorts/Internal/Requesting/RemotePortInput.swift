internal import DequeModule
internal import RunLoops

/// A ``RemotePort`` in one loop, with its handlers.
///
/// The loop watches the descriptor of the connection's ``EpollSet``. When the set is ready, the loop adds this input to its queue
/// of ports. Each pass serves ports and remote ports in the same step; see ``ServedInput``.
///
/// > Thread safety: the loop's own thread only.
final class RemotePortInput: InputServer {
    /// The port itself, which this reference keeps alive while the port is in the loop.
    private let port: RemotePort
    private let reading: LoopReading
    let input: ServedInput
    /// The handlers for messages, stored without exclusivity checks because they are read for each message; see
    /// ``ExclusivityUnchecked``.
    private let handlers = ExclusivityUnchecked(ModeHandlers<MessagePortInput.Handler>())
    /// The handler to call once, when the port at the other end has admitted this process.
    var connected: ((RemotePort) -> Void)?
    /// The handler to call each time that the socket has room again after a sender has found no room.
    var hasRoom: ((RemotePort) -> Void)?
    /// The handler to call once, when the connection has ended.
    var ended: ((RemotePort, MessagePortError) -> Void)?

    init(_ port: RemotePort, _ reading: LoopReading, _ loop: RunLoop) {
        self.port = port
        self.reading = reading
        input = ServedInput(reading.set.descriptor, reading.origin, in: loop)
    }

    /// Stores a handler for a mode, or for the common modes, unless the mode has a handler already.
    func add(_ deliver: @escaping (consuming MessagePort.Message) -> Void, for mode: RunLoop.Mode) {
        handlers.value.add(MessagePortInput.Handler(mode: mode, deliver: deliver))
    }

    /// Removes the handlers for a mode.
    ///
    /// - Returns: The removed handlers. The caller makes its own state consistent before it releases them; see `ModeHandlers`.
    func removeHandlers(for mode: RunLoop.Mode) -> [MessagePortInput.Handler] {
        handlers.value.remove(for: mode, whereCommon: input.commonModes)
    }

    private var connection: RemoteConnection { port.connection }

    var parts: [InspectedPart] {
        [
            InspectedPart(
                "remote port", madeAt: reading.origin,
                [.init("connections", connection.ending == nil ? 1 : 0)])
        ]
    }

    func serve(in mode: RunLoop.Mode, _ budget: inout Budget) -> Served {
        var served = Served()
        var reports: Deque<EpollSet.Report> = []
        // The reports are needed only for room and for the alarm: messages are found by reading the socket. The loop watches the
        // set, so a report that arrives after this is served in the next pass.
        if reading.awaitsReports { reading.set.report(to: &reports) }
        var roomCame = false
        for report in reports {
            if report.token == LoopReading.alarmToken {
                reading.alarmFired()
                roomCame = true
            } else if report.readiness.contains(.writing) {
                reading.roomCame(in: connection.socket)
                roomCame = true
            }
        }
        if roomCame, let hasRoom, input.isServed(in: mode), !connection.wasEndedHere {
            call(&served) { hasRoom(port) }
        }
        // A handler can remove the port, change its modes, or run the loop, which serves the port inside the handler.
        while input.isServed(in: mode) {
            if connection.wasAdmitted, !connection.wasEndedHere, let handler = connected.take() {
                call(&served) { handler(port) }
                if !input.isServed(in: mode) { break }
            }
            if let reason = connection.ending {
                leave(because: reason, &served)
                break
            }
            if !budget.spend() {
                served.hasMore = true
                break
            }
            switch connection.read() {
            case .message(let packet): deliver(packet, in: mode, &served)
            case .handled: continue
            case .nothing: if connection.ending == nil { return served }
            }
        }
        return served
    }

    private func deliver(_ packet: Packet, in mode: RunLoop.Mode, _ served: inout Served) {
        guard let handler = handlers.value.handler(for: mode) else {
            preconditionFailure("a port has a handler for each mode it is in")
        }
        input.countMessage()
        call(&served) { handler.deliver(connection.message(packet)) }
    }

    private func call(_ served: inout Served, _ handler: () -> Void) {
        served.calledHandler = true
        input.callHandler(reading.origin, handler)
    }

    /// Leaves the loop, because the connection has ended, and calls the handler for the end.
    private func leave(because reason: MessagePortError, _ served: inout Served) {
        let handler = ended
        // Leaving releases the loop's reference to the port, which holds the connection. That reference can be the last one, so
        // this function holds the port until the handler has returned.
        withExtendedLifetime(port) {
            input.leave()
            if let handler { call(&served) { handler(port, reason.about(port.origin)) } }
        }
    }

    /// Releases all handlers, in a forked child.
    func releaseHandlers() {
        let released = (takeEventHandlers(), handlers.value.removeAll())
        withExtendedLifetime(released) {}
    }

    private func takeEventHandlers() -> Any {
        defer { (connected, hasRoom, ended) = (nil, nil, nil) }
        return (connected, hasRoom, ended)
    }

    func didLeaveLoop() {
        let released = takeEventHandlers()
        reading.hasLeft()
        // The handlers can hold the last references to the user's objects, so they are released when the change is complete.
        withExtendedLifetime(released) {}
    }
}
