extension Connection {
    /// Returns the received frames as a sequence for a task to iterate over.
    ///
    /// The task must run on the thread of the connection's loop, for example on an actor that lives on that loop.
    ///
    /// ```swift
    /// for try await line in connection.frames(.lines()) {
    ///     if !connection.write(line + [0x0a]) { try await connection.drained() }
    /// }
    /// connection.closeAfterWriting()
    /// ```
    ///
    /// The connection receives ahead of the task until 64 KiB or more are stored. After that, it receives only while the task
    /// awaits a frame, and the peer has to wait.
    ///
    /// The sequence ends when the peer has ended its stream. The connection then stays open for writing, until you close it. The
    /// sequence also ends when your code closes the connection. If the connection ends for another reason, the iteration throws,
    /// and frames that the task has not taken are discarded. If the task is cancelled while it awaits a frame, the connection ends
    /// with ``EndReason/cancelled``. A later sequence or handler replaces this sequence, and ends its iteration.
    ///
    /// - Parameter framing: The way in which the received bytes are cut into frames.
    /// - Returns: The frames. If two tasks await frames of a connection at the same time, the program ends with a message.
    public func frames(_ framing: Framing) -> Frames { Frames(self, reader(FrameScanner(framing))) }

    /// Returns the received bytes, in pieces as they arrive, as a sequence for a task to iterate over.
    ///
    /// This method does not cut the bytes into frames. Apart from that, it behaves like ``frames(_:)``.
    ///
    /// - Returns: The pieces, none of them empty.
    public func pieces() -> Frames { Frames(self, reader(nil)) }

    /// Waits until the connection is made.
    ///
    /// Add the connection to a loop first. Returns immediately if the connection is made already. If the task is cancelled while it
    /// waits, the connection ends with ``EndReason/cancelled``.
    ///
    /// - Throws: ``ConnectionEndedError`` if the connection has ended, or cannot be made.
    nonisolated(nonsending) public func connected() async throws(ConnectionEndedError) {
        try await wait { $0.state.machine.isConnected }
    }

    /// Waits until your code may write again.
    ///
    /// If the number of unsent bytes has exceeded ``Options/highWaterMark``, this method returns when the number has fallen to half
    /// of the mark. Otherwise, it returns immediately. If the task is cancelled while it waits, the connection ends with
    /// ``EndReason/cancelled``.
    ///
    /// - Throws: ``ConnectionEndedError`` if the connection has ended.
    nonisolated(nonsending) public func drained() async throws(ConnectionEndedError) {
        try await wait { !$0.state.output.isAboveMark }
    }

    /// Waits until the connection has ended.
    ///
    /// If the task is cancelled while it waits, the connection ends with ``EndReason/cancelled``.
    ///
    /// - Returns: The reason that the connection has ended.
    nonisolated(nonsending) public func ended() async -> EndReason {
        do { try await wait { _ in false } } catch { return error.reason }
        return .closed
    }

    /// The frames of a connection, in the order in which they are received.
    ///
    /// > Thread safety: the thread of the connection's loop only.
    public struct Frames: AsyncSequence {
        /// One frame.
        public typealias Element = [UInt8]
        /// The error that the iteration throws.
        public typealias Failure = ConnectionEndedError

        private let connection: Connection
        private let reader: FrameReader

        init(_ connection: Connection, _ reader: FrameReader) {
            self.connection = connection
            self.reader = reader
        }

        /// Creates an iterator.
        ///
        /// - Returns: The iterator.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(connection: connection, reader: reader)
        }

        /// The iteration over the frames of a connection.
        ///
        /// > Thread safety: the thread of the connection's loop only.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let connection: Connection
            let reader: FrameReader

            /// Awaits the next frame.
            ///
            /// - Parameter actor: The isolation of the caller.
            /// - Returns: The frame; nil if the peer's stream has ended, if your code has closed the connection, or if a later
            ///   sequence or handler has replaced this sequence.
            /// - Throws: ``ConnectionEndedError`` if the connection has ended for another reason.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(ConnectionEndedError) -> [UInt8]? {
                if connection.mustTakeTurns(reader) {
                    await connection.wait(isolation: actor) { connection.awaitTurn(reader, $0) }
                }
                while true {
                    if let frame = connection.takeFrame(for: reader) { return frame }
                    switch connection.state.machine.ended {
                    case .closed, .peerClosed: return nil
                    case let reason?: throw ConnectionEndedError(reason: reason)
                    case nil: break
                    }
                    // The connection stays open until the bytes that were written before are sent.
                    if connection.state.machine.closing == .incompleteInput {
                        throw ConnectionEndedError(reason: .incompleteInput)
                    }
                    if connection.state.machine.input == .ended { return nil }
                    if !connection.isRead(by: reader) { return nil }
                    await connection.wait(isolation: actor) { connection.await(reader, $0) }
                }
            }

            /// Awaits the next frame.
            ///
            /// - Returns: The frame, or nil at the end of the sequence, as described at ``next(isolation:)``.
            /// - Throws: ``ConnectionEndedError`` if the connection has ended for another reason.
            nonisolated(nonsending) public mutating func next() async throws(ConnectionEndedError) -> [UInt8]?
            {
                try await next(isolation: #isolation)
            }
        }
    }
}

@available(*, unavailable)
extension Connection.Frames: Sendable {}
@available(*, unavailable)
extension Connection.Frames.AsyncIterator: Sendable {}

/// The error that a task gets when the connection that it awaits has ended.
///
/// > Thread safety: a value.
public struct ConnectionEndedError: Error, Hashable, Sendable {
    /// The reason that the connection has ended.
    public let reason: Connection.EndReason

    /// Creates an error.
    ///
    /// - Parameter reason: The reason.
    public init(reason: Connection.EndReason) { self.reason = reason }
}

extension ConnectionEndedError: CustomStringConvertible {
    /// A description of the reason.
    public var description: String { "the connection has ended: \(reason)" }
}
