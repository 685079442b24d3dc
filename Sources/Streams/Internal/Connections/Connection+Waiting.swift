internal import RunLoops

// Tasks that await an event of a connection. These tasks run on the thread of the connection's loop. Each time that such a task is
// woken, it checks its condition again.

/// The receiver of a connection whose bytes a task reads.
///
/// > Thread safety: the loop's own thread only.
final class FrameReader {
    /// The scanner that cuts the input into frames; nil if the task reads the input in pieces, as they arrive.
    var scanner: FrameScanner?
    /// The one-shot that wakes the task; nil if the task is not waiting for input.
    var waiting: OneShot<WakeUp>?
    /// True if the peer has ended its stream.
    ///
    /// The connection records the end only when the task has taken all frames before it.
    var hasSeenEnd = false

    /// The number of frames that the task has taken since it last waited.
    private var takenSinceWait = 0

    /// The maximum number of frames that the task takes before the loop serves other inputs.
    private static let mostFrames = 32

    /// Records that the task takes a frame.
    ///
    /// - Returns: True if the task must first wait until the loop has served its other inputs.
    func takesFrameTooSoon() -> Bool {
        takenSinceWait += 1
        return takenSinceWait > FrameReader.mostFrames
    }

    /// Records that the task waits.
    func waits() { takenSinceWait = 0 }

    /// The number of stored bytes below which the connection receives even if no task is waiting.
    private static let readAhead = 65_536

    init(_ scanner: FrameScanner?) { self.scanner = scanner }

    /// True if the connection should receive more bytes, given the number of bytes that are stored.
    func wantsInput(stored: Int) -> Bool {
        !hasSeenEnd && (stored < FrameReader.readAhead || waiting?.isDecided == false)
    }
}

/// The reason that a task's wait is over.
enum WakeUp: Sendable {
    case something
    case cancelled
}

extension Connection {
    /// Creates a reader for a task, and makes it the receiver of the connection in place of the previous receiver.
    func reader(_ scanner: FrameScanner?) -> FrameReader {
        requireOwnThread("Connection.frames")
        let reader = FrameReader(scanner)
        if !isOpen { return reader }
        wakeReader()
        var replaced = Receiver.task(reader)
        swap(&replaced, &handlers.receiver)
        state.receiverVersion &+= 1
        state.due.remove(.frames)
        state.scanner = nil
        // After the last frame, the task gets the end of the input, and closes the connection itself.
        state.machine.onInputEnd = .notice
        settleLater()
        // The replaced receiver is released last, because destroying an object that it holds can call the connection.
        withExtendedLifetime(replaced) {}
        return reader
    }

    /// True if a reader is the receiver of the connection: no handler and no other reader has replaced it.
    func isRead(by reader: FrameReader) -> Bool {
        guard case .task(let current) = handlers.receiver else { return false }
        return current === reader
    }

    /// Removes and returns the next frame of the input.
    ///
    /// - Returns: The frame; nil if none is complete.
    func takeFrame(for reader: FrameReader) -> [UInt8]? {
        requireOwnThread("Connection.frames")
        guard isOpen, isRead(by: reader) else { return nil }
        let frame = state.input.isEmpty ? nil : cutFrame(for: reader)
        if frame == nil && reader.hasSeenEnd && isOpen {
            state.machine.didEndInput(isComplete: state.input.isEmpty)
        }
        // If fewer bytes are stored now, the connection can receive again. If the connection has ended now, its handler of the end
        // must be called. `settle` does both.
        settleLater()
        return frame
    }

    private func cutFrame(for reader: FrameReader) -> [UInt8]? {
        guard var scanner = reader.scanner else {
            let piece = state.input.withBytes { Connection.copy($0) }
            state.input.consume(piece.count)
            return piece
        }
        let (finding, frame) = state.input.withBytes { bytes -> (FrameScanner.Finding, [UInt8]?) in
            let finding = scanner.next(in: bytes)
            guard case .frame(let range, _) = finding else { return (finding, nil) }
            return (finding, Connection.copy(bytes.extracting(range)))
        }
        reader.scanner = scanner
        switch finding {
        case .frame(_, let consumed): state.input.consume(consumed)
        case .beyond(let limit): end(.limit(limit))
        case .incomplete: break
        }
        return frame
    }

    /// Records that the peer has ended its stream, and wakes the waiting task.
    func readerSeesEnd(_ reader: FrameReader) {
        reader.hasSeenEnd = true
        if state.input.isEmpty { state.machine.didEndInput(isComplete: true) }
        reader.waiting?.decide(.something)
    }

    private static func copy(_ bytes: RawSpan) -> [UInt8] {
        // Safe: the bytes are copied while the span lives.
        unsafe bytes.withUnsafeBytes { unsafe Array($0) }
    }

    /// Registers a task that waits for input, and lets the connection receive bytes for the task.
    func await(_ reader: FrameReader, _ task: OneShot<WakeUp>) {
        if reader.waiting != nil {
            misuse("Connection.frames: two tasks await frames of the \(self); let one task iterate over them")
        }
        reader.waiting = task
        reader.waits()
        settleLater()
    }

    /// True if the task must wait for its turn before it takes the next frame that is stored.
    ///
    /// Without that, a task would take all frames that a peer has sent at once, however many they are, before the loop serves its
    /// other inputs.
    func mustTakeTurns(_ reader: FrameReader) -> Bool {
        guard state.machine.delivers, !state.input.isEmpty, isRead(by: reader), !places.isEmpty else {
            return false
        }
        return reader.takesFrameTooSoon()
    }

    /// Registers a task that waits until the loop has served its other inputs.
    func awaitTurn(_ reader: FrameReader, _ task: OneShot<WakeUp>) {
        self.await(reader, task)
        places.askToBeServed()
    }

    /// Suspends the task until an event of the connection wakes it.
    ///
    /// - Parameters:
    ///   - isolation: The isolation of the caller.
    ///   - begin: Stores the one-shot that is passed to it. When an event later decides the value of the one-shot, the task wakes.
    func wait(isolation: isolated (any Actor)?, _ begin: (OneShot<WakeUp>) -> Void) async {
        let task = OneShot<WakeUp>()
        let news = await task.value(
            before: .never, timedOut: .cancelled, cancelled: .cancelled, isolation: isolation
        ) { begin(task) }
        if case .task(let reader) = handlers.receiver, reader.waiting === task { reader.waiting = nil }
        waitingTasks.removeAll { $0 === task }
        // The result is also `cancelled` if the task was cancelled before the wait. In that case, `begin` was not called.
        if case .cancelled = news { end(.cancelled) }
    }

    /// Suspends the task until a condition on the connection holds.
    ///
    /// - Throws: `ConnectionEndedError` if the connection ends before that.
    nonisolated(nonsending) func wait(
        until holds: (Connection) -> Bool
    ) async throws(ConnectionEndedError) {
        requireOwnThread("Connection.drained")
        while true {
            if let reason = state.machine.ended { throw ConnectionEndedError(reason: reason) }
            if holds(self) { return }
            await wait(isolation: #isolation) { waitingTasks.append($0) }
        }
    }

    /// Wakes all tasks that wait for an event of the connection, so that they check their conditions again.
    func wakeTasks() {
        for task in waitingTasks { task.decide(.something) }
        if case .task(let reader) = handlers.receiver { reader.waiting?.decide(.something) }
    }

    /// Wakes the task that waits for input, if there is one.
    func wakeReader() {
        if case .task(let reader) = handlers.receiver { reader.waiting?.decide(.something) }
    }
}
