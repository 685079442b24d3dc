extension Connection {
    /// Returns the frames that are received, for a task that runs on the thread of the connection's loop, such as that of an
    /// actor that lives on the loop.
    ///
    /// ```swift
    /// for try await line in connection.frames(.lines()) {
    ///     if !connection.write(line + [0x0a]) { try await connection.drained() }
    /// }
    /// connection.closeAfterWriting()
    /// ```
    ///
    /// Some 64 KiB are received ahead of the task. After that, bytes are received only while the task awaits them, and the peer
    /// has to wait. A later sequence or handler replaces this one, and ends its iteration. The sequence ends when the peer has
    /// ended its stream; the connection stays open for writing then, until you close it. It ends, too, when your code has
    /// closed the connection. If the connection ends for another reason, the iteration throws. If the task is cancelled while
    /// it awaits a frame, the connection ends with ``EndReason/cancelled``.
    ///
    /// - Parameter framing: The way in which the bytes are cut into frames.
    /// - Returns: The frames. One task at a time iterates over the frames of a connection.
    public func frames(_ framing: Framing) -> Frames { Frames(self, reader(FrameScanner(framing))) }

    /// Returns the bytes that are received, piece by piece as they arrive, for a task that runs on the thread of the
    /// connection's loop.
    ///
    /// As ``frames(_:)``.
    ///
    /// - Returns: The pieces, none of them empty.
    public func pieces() -> Frames { Frames(self, reader(nil)) }

    /// Waits until the connection is made.
    ///
    /// Returns at once if it is made already. If the task is cancelled meanwhile, the connection ends.
    ///
    /// - Throws: ``ConnectionEndedError`` if it cannot be made.
    nonisolated(nonsending) public func connected() async throws(ConnectionEndedError) {
        try await wait { $0.state.machine.isConnected }
    }

    /// Waits until a writer may go on: the unsent bytes are no more than ``Options/highWaterMark``, or have fallen to half of
    /// it.
    ///
    /// Returns at once if they are few. If the task is cancelled meanwhile, the connection ends.
    ///
    /// - Throws: ``ConnectionEndedError`` if the connection has ended.
    nonisolated(nonsending) public func drained() async throws(ConnectionEndedError) {
        try await wait { !$0.state.isAboveMark }
    }

    /// Waits until the connection has ended.
    ///
    /// If the task is cancelled meanwhile, the connection ends with ``EndReason/cancelled``.
    ///
    /// - Returns: The reason.
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
        /// The error of the iteration.
        public typealias Failure = ConnectionEndedError

        private let connection: Connection
        private let reader: FrameReader

        init(_ connection: Connection, _ reader: FrameReader) {
            self.connection = connection
            self.reader = reader
        }

        /// Makes an iterator.
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
            /// - Returns: The frame; nil after the end of the peer's stream, and once your code has closed the connection.
            /// - Throws: ``ConnectionEndedError`` if the connection has ended for another reason.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(ConnectionEndedError) -> [UInt8]? {
                while true {
                    if let frame = connection.takeFrame(for: reader) { return frame }
                    switch connection.state.machine.ended {
                    case .closed, .peerClosed: return nil
                    case let reason?: throw ConnectionEndedError(reason: reason)
                    case nil: break
                    }
                    if connection.state.machine.input == .ended { return nil }
                    if !connection.isRead(by: reader) { return nil }
                    await connection.wait(isolation: actor) { connection.await(reader, $0) }
                }
            }

            /// Awaits the next frame.
            ///
            /// - Returns: The frame, or nil at the end, as for ``next(isolation:)``.
            /// - Throws: ``ConnectionEndedError`` if the connection has ended for another reason.
            public mutating func next() async throws(ConnectionEndedError) -> [UInt8]? {
                try await next(isolation: #isolation)
            }
        }
    }
}

@available(*, unavailable)
extension Connection.Frames: Sendable {}
@available(*, unavailable)
extension Connection.Frames.AsyncIterator: Sendable {}

/// A connection that a task awaited has ended.
///
/// > Thread safety: a value.
public struct ConnectionEndedError: Error, Hashable, Sendable {
    /// The reason.
    public let reason: Connection.EndReason

    /// Makes an error.
    ///
    /// - Parameter reason: The reason.
    public init(reason: Connection.EndReason) { self.reason = reason }
}

extension ConnectionEndedError: CustomStringConvertible {
    /// The reason in words.
    public var description: String { "the connection has ended: \(reason)" }
}
