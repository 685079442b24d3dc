internal import RunLoops

extension MessagePort {
    /// The right to reply to one request.
    ///
    /// Replying uses it up. If it is destroyed instead, the requester is told at once that there will be no reply, so each
    /// request is heard of exactly once.
    ///
    /// While it is kept, the descriptor of its connection stays open, also if the requester has gone: drop those that are
    /// not valid any more.
    ///
    /// > Thread safety: a value that has one owner, who may hand it to any thread.
    public struct ReplyRight: ~Copyable, Sendable {
        /// Nil once it was used.
        private var connection: PortConnection?
        private let request: UInt64

        init(_ connection: PortConnection, _ request: UInt64) {
            self.connection = connection
            self.request = request
        }

        deinit { connection?.declineReply(to: request) }

        /// False once the requester is gone, or its connection was closed.
        ///
        /// True for one that has given up waiting and is there still: its reply is dropped at its end.
        ///
        /// > Thread safety: any thread; it may go at any moment.
        public var isValid: Bool { connection?.isEnded == false }

        /// Replies, and uses the right up.
        ///
        /// Never waits: a reply that the requester has no room for yet is kept here, up to
        /// ``MessagePort/Limits/keptReplies``.
        ///
        /// - Parameters:
        ///   - bytes: The reply.
        ///   - id: A number that goes with it.
        ///   - descriptors: What goes with it; they stay open here, and are the caller's.
        /// - Throws: ``MessagePortError``: the requester is gone or reads nothing, or the reply is more than it takes. Then
        ///   it is told, if it is there, that there will be no reply.
        ///
        /// > Thread safety: any thread.
        public consuming func reply(
            _ bytes: [UInt8] = [], id: UInt32 = 0, descriptors: [CInt] = []
        ) throws(MessagePortError) {
            // Safe: bytes have nothing between them.
            try unsafe reply(bytes.span.bytes, id: id, descriptors: descriptors)
        }

        /// Replies with bytes that are somewhere in memory, and uses the right up.
        ///
        /// As ``reply(_:id:descriptors:)-([UInt8],_,_)``.
        ///
        /// - Parameters:
        ///   - bytes: The reply.
        ///   - id: A number that goes with it.
        ///   - descriptors: What goes with it; they stay open here, and are the caller's.
        /// - Throws: ``MessagePortError``: the requester is gone or reads nothing, or the reply is more than it takes. Then
        ///   it is told, if it is there, that there will be no reply.
        ///
        /// > Thread safety: any thread.
        public consuming func reply(
            _ bytes: RawSpan, id: UInt32 = 0, descriptors: [CInt] = []
        ) throws(MessagePortError) {
            // Where it throws, the right goes unused, which tells the requester.
            if let connection {
                do {
                    try connection.reply(to: request, bytes, id: id, descriptors: descriptors)
                } catch { throw error.about(.requester(connection.peer.credentials)) }
            }
            connection = nil
        }
    }
}
