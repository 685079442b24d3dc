internal import RunLoops

extension DatagramSocket {
    /// A datagram that a task has received.
    ///
    /// > Thread safety: a value.
    public struct Datagram: Hashable, Sendable {
        /// The bytes, which can be none.
        public let bytes: [UInt8]
        /// The address of the sender.
        public let sender: SocketAddress
        /// True if the datagram was longer than ``Options/datagramByteLimit``, and the bytes beyond the limit are lost.
        public let isTruncated: Bool

        /// Creates a datagram, for tests of code that receives.
        ///
        /// - Parameters:
        ///   - bytes: The bytes.
        ///   - sender: The address of the sender.
        ///   - isTruncated: True if bytes are lost.
        public init(bytes: [UInt8], sender: SocketAddress, isTruncated: Bool = false) {
            self.bytes = bytes
            self.sender = sender
            self.isTruncated = isTruncated
        }
    }

    /// Returns the received datagrams as a sequence for a task to iterate over.
    ///
    /// The task must run on the thread of the socket's loop, for example on an actor that lives on that loop.
    ///
    /// ```swift
    /// for try await datagram in socket.datagrams() {
    ///     socket.send(datagram.bytes, to: datagram.sender)
    /// }
    /// ```
    ///
    /// The socket receives only while the task awaits a datagram, and at most 32 datagrams at once. The kernel stores the others.
    /// The sequence ends when your code closes the socket. If the socket ends for another reason, the iteration throws. If the
    /// task is cancelled while it awaits a datagram, the socket ends with ``EndReason/cancelled``. A later sequence or handler
    /// replaces this sequence, and ends its iteration.
    ///
    /// - Returns: The datagrams. If two tasks await datagrams of a socket at the same time, the program ends with a message.
    public func datagrams() -> Datagrams {
        requireOwnThread("DatagramSocket.datagrams")
        let reader = DatagramReader()
        setReceiver(.task(reader))
        return Datagrams(self, reader)
    }

    /// The datagrams of a socket, in the order in which they are received.
    ///
    /// > Thread safety: the thread of the socket's loop only.
    public struct Datagrams: AsyncSequence {
        /// A datagram.
        public typealias Element = Datagram
        /// The error that the iteration throws.
        public typealias Failure = DatagramSocketEndedError

        private let socket: DatagramSocket
        private let reader: DatagramReader

        init(_ socket: DatagramSocket, _ reader: DatagramReader) {
            self.socket = socket
            self.reader = reader
        }

        /// Creates an iterator.
        ///
        /// - Returns: The iterator.
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(socket: socket, reader: reader) }

        /// The iteration over the datagrams of a socket.
        ///
        /// > Thread safety: the thread of the socket's loop only.
        public struct AsyncIterator: AsyncIteratorProtocol {
            let socket: DatagramSocket
            let reader: DatagramReader

            /// Awaits the next datagram.
            ///
            /// - Parameter actor: The isolation of the caller.
            /// - Returns: The datagram; nil if your code has closed the socket, or a later sequence or handler has replaced this
            ///   sequence.
            /// - Throws: ``DatagramSocketEndedError`` if the socket has ended for another reason.
            public mutating func next(
                isolation actor: isolated (any Actor)?
            ) async throws(DatagramSocketEndedError) -> Datagram? {
                while true {
                    switch socket.take(for: reader) {
                    case .datagram(let datagram): return datagram
                    case .over(nil): return nil
                    case .over(let reason?): throw DatagramSocketEndedError(reason: reason)
                    case .nothing: await socket.wait(reader, isolation: actor)
                    }
                }
            }

            /// Awaits the next datagram.
            ///
            /// - Returns: The datagram, or nil at the end of the sequence, as described at ``next(isolation:)``.
            /// - Throws: ``DatagramSocketEndedError`` if the socket has ended for another reason.
            nonisolated(nonsending) public mutating func next()
                async throws(DatagramSocketEndedError) -> Datagram?
            {
                try await next(isolation: #isolation)
            }
        }
    }
}

@available(*, unavailable)
extension DatagramSocket.Datagrams: Sendable {}
@available(*, unavailable)
extension DatagramSocket.Datagrams.AsyncIterator: Sendable {}
