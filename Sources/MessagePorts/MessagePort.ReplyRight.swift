internal import RunLoops

extension MessagePort {
    /// The right to reply to one request.
    ///
    /// A reply consumes the right. If the right is destroyed unused, the request fails immediately with
    /// ``MessagePortError/Reason/noReply``. So each request ends exactly once.
    ///
    /// While the right exists, the descriptor of its connection stays open, even after the requester has ended, and the connection
    /// takes one of the port's places. Drop rights that are no longer ``isValid``.
    ///
    /// > Thread safety: a value that has one owner, which may pass it to any thread.
    public struct ReplyRight: ~Copyable, Sendable {
        /// The connection for the reply; nil once the right has been used.
        private var connection: PortConnection?
        private let request: UInt64

        init(_ connection: PortConnection, _ request: UInt64) {
            self.connection = connection
            self.request = request
        }

        deinit { connection?.declineReply(to: request) }

        /// False once the requester has ended, or the requester's connection was closed.
        ///
        /// This stays true if the requester has stopped waiting for the reply but its connection is still open. The process of the
        /// requester then discards the reply.
        ///
        /// > Thread safety: any thread. The requester can end at any moment.
        public var isAwaited: Bool { connection?.isEnded == false }

        /// Replies, and consumes the right.
        ///
        /// This never blocks: if the requester has no room for the reply yet, the port keeps the reply, up to
        /// ``MessagePort/Options/keptReplyByteLimit``.
        ///
        /// - Parameters:
        ///   - bytes: The bytes of the reply.
        ///   - id: A number that the reply carries.
        ///   - descriptors: The descriptors to duplicate for the requester. They stay open in this process, and the caller still
        ///     owns them.
        /// - Throws: ``MessagePortError`` if the requester has ended, does not read its replies, or does not accept a reply of this
        ///   size. If the requester has not ended, its request fails with ``MessagePortError/Reason/noReply``.
        ///
        /// > Thread safety: any thread.
        public consuming func reply(
            _ bytes: [UInt8] = [], id: UInt32 = 0, descriptors: [CInt] = []
        ) throws(MessagePortError) {
            // Safe: bytes have no padding.
            try unsafe reply(bytes.span.bytes, id: id, descriptors: descriptors)
        }

        /// Replies with the bytes of a span, and consumes the right.
        ///
        /// Apart from the type of `bytes`, this is the same as ``reply(_:id:descriptors:)-([UInt8],_,_)``.
        ///
        /// - Parameters:
        ///   - bytes: The bytes of the reply.
        ///   - id: A number that the reply carries.
        ///   - descriptors: The descriptors to duplicate for the requester. They stay open in this process, and the caller still
        ///     owns them.
        /// - Throws: ``MessagePortError`` if the requester has ended, does not read its replies, or does not accept a reply of this
        ///   size. If the requester has not ended, its request fails with ``MessagePortError/Reason/noReply``.
        ///
        /// > Thread safety: any thread.
        public consuming func reply(
            _ bytes: RawSpan, id: UInt32 = 0, descriptors: [CInt] = []
        ) throws(MessagePortError) {
            // If this throws, the right is destroyed unused, which notifies the requester.
            if let connection {
                do {
                    try connection.reply(to: request, bytes, id: id, descriptors: descriptors)
                } catch { throw error.about("request of \(connection.peer.credentials)") }
            }
            connection = nil
        }
    }
}
