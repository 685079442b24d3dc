public import RunLoops

extension MessagePort {
    /// A message or request that a port has received, or the reply to a request.
    ///
    /// A message has one owner, and owns its bytes and its descriptors. Nothing is copied. Descriptors that you do not take out are
    /// closed soon after the message is destroyed, on another thread, because closing can block. You can keep a message as long as
    /// you like. Its memory has room for the largest message, so a program that keeps many messages should copy their bytes
    /// instead.
    ///
    /// Reply to a request with ``reply(_:id:descriptors:)-([UInt8],_,_)``. To reply later, or from another thread, use the right
    /// that ``takeReplyRight()`` returns. If the request is destroyed without a reply, it fails immediately with
    /// ``MessagePortError/Reason/noReply``.
    ///
    /// ```swift
    /// try loop.add(port, forMode: .common) { message in
    ///     let count = message.withBytes { bytes in bytes.byteCount }
    ///     print(message.id, "from", message.sender.credentials, "with", count, "bytes")
    /// }
    /// ```
    ///
    /// > Thread safety: a value that has one owner, which may pass it to any thread.
    public struct Message: ~Copyable, Sendable {
        private let packet: Packet
        /// The connection whose peer waits for a reply, or nil if no peer waits or the right to reply was taken.
        private var requester: PortConnection?
        private let pool: PacketPool

        /// The sender.
        ///
        /// The sender of a reply is the process that has the port; its `connection` is 0.
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

        /// The descriptors that the message carries.
        ///
        /// Take out the descriptors that are to stay open. A sender can send a descriptor that takes long to close. Examples are a
        /// socket that lingers, and a file of a file system that the sender serves.
        public var descriptors: OwnedDescriptors {
            _read { yield packet.descriptors }
            _modify { yield &packet.descriptors }
        }

        /// The number that the sender has assigned to the message.
        ///
        /// Its meaning is up to the two programs.
        public var id: UInt32 { packet.frame.id }

        /// The number of bytes of the message.
        public var byteCount: Int { packet.frame.bodyLength }

        /// A copy of the bytes of the message.
        ///
        /// - Complexity: O(*n*), *n* bytes.
        public var bytes: [UInt8] {
            // Safe: the bytes are copied while the span is valid.
            packet.withBody { body in unsafe body.withUnsafeBytes { bytes in unsafe Array(bytes) } }
        }

        /// True if the sender waits for a reply and the right to reply was not taken.
        public var isRequest: Bool { requester != nil }

        /// Passes the bytes to a closure, without copying them.
        ///
        /// - Parameter body: A closure that reads the bytes.
        /// - Returns: The result of `body`.
        /// - Throws: The error of `body`.
        public func withBytes<Result: ~Copyable, Failure: Error>(
            _ body: (RawSpan) throws(Failure) -> Result
        ) throws(Failure) -> Result {
            try packet.withBody(body)
        }

        /// Removes and returns the right to reply, so that you can reply later or on another thread.
        ///
        /// - Returns: The right, or nil if this is not a request or the right was taken before.
        public mutating func takeReplyRight() -> ReplyRight? {
            guard let requester = requester.take() else { return nil }
            return ReplyRight(requester, packet.frame.number)
        }

        /// Replies to a request, and consumes the message.
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
        ///   size.
        /// - Precondition: The message is a request, and its right to reply was not taken.
        ///
        /// > Thread safety: any thread.
        public consuming func reply(
            _ bytes: [UInt8] = [], id: UInt32 = 0, descriptors: [CInt] = []
        ) throws(MessagePortError) {
            // Safe: bytes have no padding.
            try unsafe reply(bytes.span.bytes, id: id, descriptors: descriptors)
        }

        /// Replies to a request with the bytes of a span, and consumes the message.
        ///
        /// Otherwise the same as ``reply(_:id:descriptors:)-([UInt8],_,_)``.
        ///
        /// - Parameters:
        ///   - bytes: The bytes of the reply.
        ///   - id: A number that the reply carries.
        ///   - descriptors: The descriptors to duplicate for the requester. They stay open in this process, and the caller still
        ///     owns them.
        /// - Throws: ``MessagePortError`` if the requester has ended, does not read its replies, or does not accept a reply of this
        ///   size.
        /// - Precondition: The message is a request, and its right to reply was not taken.
        ///
        /// > Thread safety: any thread.
        public consuming func reply(
            _ bytes: RawSpan, id: UInt32 = 0, descriptors: [CInt] = []
        ) throws(MessagePortError) {
            guard let right = takeReplyRight() else {
                misuse(
                    "MessagePort.Message.reply: the message is not a request, or its right to reply was taken; check isRequest first, and take the right once"
                )
            }
            try right.reply(bytes, id: id, descriptors: descriptors)
        }
    }

    /// The sender of a message.
    ///
    /// Peers are equal if they are the same end of the same connection. A process that connects twice is two peers.
    ///
    /// > Thread safety: a value.
    public struct Peer: Hashable, Identifiable, Sendable {
        /// The number of the connection, which no other connection of the port ever gets.
        public let id: UInt64

        /// The process, as the kernel reports it.
        public let credentials: PeerCredentials

        init(id: UInt64, credentials: PeerCredentials) {
            self.id = id
            self.credentials = credentials
        }
    }
}

extension MessagePort.Peer: CustomStringConvertible {
    /// The process, and the number of the connection.
    public var description: String { "\(credentials), connection \(id)" }
}
