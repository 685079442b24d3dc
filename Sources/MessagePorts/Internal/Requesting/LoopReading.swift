internal import DequeModule
internal import RunLoops

/// The additional state of a connection whose packets are read only by a loop.
///
/// Other connections are read by the threads that wait for replies. This connection's socket is in an ``EpollSet`` of its own, and
/// the loop watches the set's descriptor. So any thread can change the set, and then the set also reports when the socket has room.
/// The set does not change when the remote port leaves its loop.
final class LoopReading: Sendable {
    /// The token that the set reports for the socket.
    static let socketToken: UInt64 = 0
    /// The token that the set reports for the alarm.
    static let alarmToken: UInt64 = 1

    let set: EpollSet
    let origin: SourceLocation

    /// The exclusive right of one loop to read the connection.
    ///
    /// Only the thread of that loop accesses `input`.
    let claim = SharedClaim()

    /// The remote port as an input of the loop that reads the connection; nil if the port is in no loop.
    ///
    /// `nonisolated(unsafe)`: guarded by ``claim``.
    nonisolated(unsafe) var input: RemotePortInput?

    /// The state of the wait for room in the socket.
    ///
    /// The wait begins when a sender has found no room.
    private let room = Guarded(Room())

    private struct Room: Sendable {
        /// True from the time when a sender finds no room to the time when the set reports room.
        var isAwaited = false
        /// True while the set watches the socket for room.
        var isWatched = false
        var backoff = ExponentialBackoff.sending
    }

    /// The alarm for the next attempt to send; nil until the kernel is out of resources for the first time.
    ///
    /// The kernel does not report when it has resources again.
    ///
    /// `nonisolated(unsafe)`: accessed under the lock of ``room``. The alarm is outside ``room`` because the alarm is a noncopyable
    /// value, which ``room`` cannot hold.
    nonisolated(unsafe) private var alarm: Alarm?

    init(_ origin: SourceLocation) throws(SystemError) {
        self.origin = origin
        set = try EpollSet()
    }

    // MARK: - The loop

    /// Adds the remote port to a mode of a loop.
    func join(
        _ loop: RunLoop, _ mode: RunLoop.Mode, _ port: RemotePort,
        _ deliver: @escaping (consuming MessagePort.Message) -> Void
    ) throws(SystemError) {
        if loop.hasEnded { return }
        guard claim.take(for: loop) else {
            misuse(
                "RunLoop.add(remote port): the port made at \(origin) is in another loop; remove it there first"
            )
        }
        let joined = unsafe input ?? RemotePortInput(port, self, loop)
        do throws(SystemError) { try joined.input.join(mode, server: joined) } catch {
            if unsafe input == nil { claim.release() }
            throw error
        }
        unsafe input = joined
        joined.add(deliver, for: mode)
        // The connection may have ended, or been admitted, while it was in another loop.
        joined.input.becameReady()
    }

    /// Removes the remote port from a mode.
    func leave(_ mode: RunLoop.Mode) {
        guard claim.loopHere != nil, let input = unsafe input else { return }
        let removed = input.removeHandlers(for: mode)
        input.input.leave(mode)
        withExtendedLifetime(removed) {}
    }

    /// Removes the port from all its modes.
    func leaveAll() {
        leave(.common)
        guard claim.loopHere != nil, let input = unsafe input else { return }
        for mode in input.input.modes { leave(mode) }
    }

    /// Releases the claim, because the remote port has left its loop.
    func hasLeft() {
        unsafe input = nil
        claim.release()
    }

    /// Sets the handler that the loop calls when one kind of event occurs.
    ///
    /// There are three kinds: the connection is complete, the socket has room again, and the connection has ended.
    ///
    /// - Parameters:
    ///   - member: The public function that the program has called, for the message about a misuse.
    ///   - place: The property that holds the handler.
    ///   - handler: The handler.
    ///   - hasEnded: True if the connection has ended. The port may then have left the loop already, so its absence is no misuse.
    func setHandler<Handler>(
        _ member: StaticString, _ place: ReferenceWritableKeyPath<RemotePortInput, Handler?>,
        _ handler: Handler,
        hasEnded: Bool
    ) {
        guard claim.loopHere != nil, let input = unsafe input else {
            if hasEnded || RunLoop.existing?.hasEnded == true { return }
            misuse(
                "\(member): the port made at \(origin) is not in this thread's loop; add it to the loop first, and call this on the loop's thread"
            )
        }
        let replaced = exchange(&input[keyPath: place], with: handler)
        // The event may have occurred already.
        input.input.becameReady()
        // The old handler is released after the change: destroying an object that the handler captures can call this function
        // again.
        withExtendedLifetime(replaced) {}
    }

    // MARK: - Room

    /// Makes the set report when a socket has room, because a sender has found no room.
    ///
    /// If the port has not admitted this process yet, this function only sets a flag, and ``admitted(_:)`` changes the set later.
    /// Before the admission, the socket has room, so the set would report room in every pass of the loop.
    ///
    /// The set is changed under the lock, although changing it is a system call. So when several threads change the state, the
    /// kernel gets their changes in the same order.
    func awaitRoom(in socket: borrowing PacketSocket, isAdmitted: Bool) {
        let descriptor = socket.descriptor
        room.withLock { room in
            room.isAwaited = true
            if isAdmitted { watchRoom(&room, descriptor) }
        }
    }

    /// Makes the set report when the socket has room, if a sender already waits for room.
    ///
    /// This is called when the port has admitted this process.
    func admitted(_ socket: borrowing PacketSocket) {
        let descriptor = socket.descriptor
        room.withLock { if $0.isAwaited { watchRoom(&$0, descriptor) } }
    }

    private func watchRoom(_ room: inout Room, _ descriptor: CInt) {
        if room.isWatched { return }
        room.isWatched = true
        change(descriptor, [.reading, .writing])
    }

    /// Sets the alarm for the next attempt to send, because the kernel is out of resources.
    ///
    /// When the alarm fires, the loop calls the same handler as when the socket has room again.
    func awaitResources() throws(SystemError) {
        try room.withLock { room throws(SystemError) in
            if unsafe alarm == nil {
                let alarm = try Alarm()
                try set.add(alarm.descriptor, [.reading, .edge], token: LoopReading.alarmToken)
                unsafe self.alarm = consume alarm
            }
            let pause = room.backoff.begin().nanosecondsRoundedUp
            _ = unsafe alarm?.set(Moment.now().advanced(by: pause))
        }
    }

    /// True if the set watches the socket for room, or contains the alarm.
    var awaitsReports: Bool { room.withLock { unsafe $0.isWatched || alarm != nil } }

    /// Records that the socket has room for packets again.
    func roomCame(in socket: borrowing PacketSocket) {
        let descriptor = socket.descriptor
        room.withLock { room in
            (room.isAwaited, room.isWatched) = (false, false)
            change(descriptor, .reading)
        }
    }

    /// Records that the alarm has fired, so that the pause is over.
    func alarmFired() { room.withLock { _ in unsafe alarm?.hasFired() } }

    /// Resets the backoff of the attempts to send, because a packet was sent.
    ///
    /// The next pause is then as short as possible.
    func hasSent() { room.withLock { $0.backoff.reset() } }

    private func change(_ descriptor: CInt, _ interest: EpollSet.Interest) {
        do { try set.change(descriptor, interest, token: LoopReading.socketToken) } catch {
            preconditionFailure("the interest of a watched descriptor can be changed: \(error)")
        }
    }
}
