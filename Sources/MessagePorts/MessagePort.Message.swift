internal import RunLoops

extension MessagePort {
    /// What has come from another process: a message, a request, or the reply to one.
    ///
    /// It has one owner, and owns its bytes and its descriptors: nothing is copied, and what nobody has taken is
    /// closed soon after it has gone, by a thread that may wait for it. It may be kept as long as one likes. Its memory has
    /// room for the largest message, so whoever keeps many of them had better keep copies of their bytes.
    ///
    /// A request is replied to with ``reply(_:id:descriptors:)-([UInt8],_,_)``, at once, or later from any thread with the
    /// right that ``takeReplyRight()`` gives. If it goes without a reply, its sender is told at once.
    ///
    /// ```swift
    /// try loop.add(port, forMode: .common) { message in
    ///     let count = message.withBytes { bytes in bytes.byteCount }
    ///     print(message.id, "from", message.sender.credentials, "with", count, "bytes")
    /// }
    /// ```
    ///
    /// > Thread safety: a value that has one owner, who may hand it to any thread.
    public struct Message: ~Copyable, Sendable {
        private let packet: Packet
        /// The connection that waits for a reply, or nil if none does or the right to reply was taken.
        private var requester: PortConnection?
        private let pool: PacketPool

        /// Who has sent it; of a reply, the process that has the port, with the connection 0.
        public let sender: Peer

        init(_ packet: Packet, from sender: Peer, requester: PortConnection?, pool: PacketPool) {
            self.packet = packet
            self.requester = requester
            self.sender = sender
            self.pool = pool
        }

        deinit {
            if let requester { _ = ReplyRight(requester, packet.frame.number) }
            pool.give(packet)
        }

        /// The descriptors that have come with it.
        ///
        /// Take out what is to stay open. Closing a descriptor may take long if its sender arranged it so: a socket that
        /// lingers, a file of its own file system.
        public var descriptors: OwnedDescriptors {
            _read { yield packet.descriptors }
            _modify { yield &packet.descriptors }
        }

        /// The number that the sender has given it, whose meaning is up to the two.
        public var id: UInt32 { packet.frame.id }

        /// How many bytes it has.
        public var byteCount: Int { packet.frame.bodyLength }

        /// A copy of its bytes.
        ///
        /// - Complexity: O(*n*), *n* bytes.
        public var bytes: [UInt8] {
            // Safe: the bytes are copied while they are there.
            packet.withBody { body in unsafe body.withUnsafeBytes { bytes in unsafe Array(bytes) } }
        }

        /// Whether its sender waits for a reply.
        public var isRequest: Bool { requester != nil }

        /// Reads the bytes where they are.
        ///
        /// - Parameter body: Reads them.
        /// - Returns: What `body` returns.
        /// - Throws: What `body` throws.
        public func withBytes<Result: ~Copyable, Failure: Error>(
            _ body: (RawSpan) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try packet.withBody(body)
        }

        /// Takes the right to reply out, to reply later, or elsewhere.
        ///
        /// - Returns: The right, or nil if this is no request, or the right was taken.
        public mutating func takeReplyRight() -> ReplyRight? {
            guard let requester = requester.take() else { return nil }
            return ReplyRight(requester, packet.frame.number)
        }

        /// Replies to a request, and uses it up.
        ///
        /// Never waits: a reply that its requester has no room for yet is kept here, up to
        /// ``MessagePort/Limits/keptReplies``.
        ///
        /// - Parameters:
        ///   - bytes: The reply.
        ///   - id: A number that goes with it.
        ///   - descriptors: What goes with it; they stay open here, and are the caller's.
        /// - Throws: ``MessagePortError``: the requester is gone or reads nothing, or the reply is more than it takes.
        /// - Precondition: It is a request, whose right to reply was not taken.
        ///
        /// > Thread safety: any thread.
        public consuming func reply(
            _ bytes: [UInt8] = [], id: UInt32 = 0, descriptors: [CInt] = []
        ) throws(MessagePortError) {
            // Safe: bytes have nothing between them.
            try unsafe reply(bytes.span.bytes, id: id, descriptors: descriptors)
        }

        /// Replies to a request with bytes that are somewhere in memory, and uses it up.
        ///
        /// As ``reply(_:id:descriptors:)-([UInt8],_,_)``.
        ///
        /// - Parameters:
        ///   - bytes: The reply.
        ///   - id: A number that goes with it.
        ///   - descriptors: What goes with it; they stay open here, and are the caller's.
        /// - Throws: ``MessagePortError``: the requester is gone or reads nothing, or the reply is more than it takes.
        /// - Precondition: It is a request, whose right to reply was not taken.
        ///
        /// > Thread safety: any thread.
        public consuming func reply(
            _ bytes: RawSpan, id: UInt32 = 0, descriptors: [CInt] = []
        ) throws(MessagePortError) {
            guard let right = takeReplyRight() else {
                misuse(
                    "MessagePort.Message.reply: nobody waits for a reply to this message; look at isRequest before, and take the right once"
                )
            }
            try right.reply(bytes, id: id, descriptors: descriptors)
        }
    }

    /// Who has sent a message.
    ///
    /// Peers are equal if they are the same end of the same connection: a process that connects twice is two.
    ///
    /// > Thread safety: a value.
    public struct Peer: Hashable, Sendable {
        /// The number of the connection, which is not used again while the port lives.
        public let connection: UInt64

        /// Which process it is.
        public let credentials: PeerCredentials

        init(connection: UInt64, credentials: PeerCredentials) {
            self.connection = connection
            self.credentials = credentials
        }
    }
}

extension MessagePort.Peer: CustomStringConvertible {
    /// The process, and the number of the connection.
    public var description: String { "\(credentials), connection \(connection)" }
}
