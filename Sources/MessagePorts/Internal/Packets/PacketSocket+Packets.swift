internal import CSockets
internal import Glibc
internal import RunLoops

extension PacketSocket {
    /// What has become of a packet.
    enum Sent: Equatable {
        /// The kernel has it, whole, and every descriptor of it.
        case sent
        /// There is no room; nothing was sent.
        case wouldBlock
        /// The other end is gone; nothing was sent.
        case closed
        /// A packet has at most so many bytes here; nothing was sent.
        case tooLarge(limit: Int)
        /// The kernel has no memory for it, or the user has too many descriptors under way; nothing was sent, and later there
        /// may be room. It does not tell when.
        case lacksMeans
        /// The kernel has refused; nothing was sent.
        case failed(SystemError)
    }

    /// Sends one packet without waiting, and without copying it here.
    ///
    /// - Parameters:
    ///   - head: Its first bytes; not none.
    ///   - body: The bytes after them.
    ///   - descriptors: What goes with it; they stay open here. At most ``mostDescriptors``.
    /// - Returns: What has become of it.
    borrowing func send(head: RawSpan, body: RawSpan, descriptors: [CInt]) -> Sent {
        let socket = descriptor
        // Safe: the kernel reads the two spans and our array, as far as they go.
        let result = unsafe head.withUnsafeBytes { head in
            unsafe body.withUnsafeBytes { body in
                unsafe runloops_send(
                    socket, head.baseAddress, head.count, body.baseAddress, body.count, descriptors,
                    descriptors.count)
            }
        }
        if result >= 0 { return .sent }
        let code = errno
        switch code {
        case EAGAIN: return .wouldBlock
        case EPIPE, ECONNRESET, ENOTCONN: return .closed
        case EMSGSIZE:
            do { return .tooLarge(limit: try mostBytes) } catch { return .failed(error) }
        case ENOBUFS, ENOMEM, ETOOMANYREFS: return .lacksMeans
        default: return .failed(SystemError(call: "sendmsg", code: code))
        }
    }

    /// What there was to receive.
    enum Received: ~Copyable {
        /// So many bytes of the buffer are one packet, which has come with these descriptors.
        case packet(length: Int, OwnedDescriptors)
        /// Nothing yet.
        case wouldBlock
        /// Nothing more, ever.
        case end
        /// A packet was longer than the buffer, by its length; it is gone, but for its descriptors.
        case tooLong(length: Int, OwnedDescriptors)
        /// A packet carries more descriptors than are allowed. It waits on, and has given these.
        case exceedsAllowance(OwnedDescriptors)
        /// Not all descriptors of a packet could be opened here; these could. It waits on, unless any number was allowed.
        case lacksDescriptors(OwnedDescriptors)
        /// The kernel has refused; nothing was received.
        case failed(SystemError)
    }

    /// Receives one packet, without waiting unless it is to.
    ///
    /// An empty one counts as a packet while the other end is there, and as the end afterwards, from which the kernel does
    /// not tell it.
    ///
    /// - Parameters:
    ///   - buffer: Where its bytes go; not of size 0.
    ///   - allowance: The descriptors that it may bring.
    ///   - waits: True if it waits until there is one, or nothing will come any more, which ``shutDown()`` sees to. Only a
    ///     socket that has asked for its connection does: the others are non-blocking.
    /// - Returns: What there was. Its descriptors are on the account of the other end, if that is known.
    borrowing func receive(
        into buffer: UnsafeMutableRawBufferPointer, _ allowance: DescriptorAccount.Allowance = .any,
        waits: Bool = false
    ) -> Received {
        let socket = descriptor
        let permitted: CInt =
            switch allowance {
            case .any: -1
            case .atMost(let count): CInt(count)
            }
        var packet = runloops_packet()
        // Safe: the kernel writes at most the buffer's length, and the function at most the list's.
        return unsafe withUnsafeTemporaryAllocation(of: CInt.self, capacity: PacketSocket.mostDescriptors) {
            list in
            let result = unsafe runloops_receive(
                socket, waits, permitted, buffer.baseAddress, buffer.count, list.baseAddress, &packet)
            if result != 0 {
                let code = errno
                switch code {
                case EAGAIN: return .wouldBlock
                case ECONNRESET: return .end
                default: return .failed(SystemError(call: "recvmsg", code: code))
                }
            }
            // From here on they have an owner, which closes them whatever comes of the packet.
            let descriptors = OwnedDescriptors(
                adopting: unsafe Array(list.prefix(packet.descriptor_count)), from: account)
            if packet.exceeds_permitted { return .exceedsAllowance(descriptors) }
            if packet.lacks_bytes { return .tooLong(length: packet.length, descriptors) }
            if packet.lacks_descriptors { return .lacksDescriptors(descriptors) }
            if packet.length == 0 && descriptors.isEmpty && runloops_has_hung_up(socket) { return .end }
            return .packet(length: packet.length, descriptors)
        }
    }
}

extension PacketSocket {
    /// Sends a frame with its body as one packet, without waiting.
    ///
    /// - Parameters:
    ///   - frame: What it says; the lengths are filled in here.
    ///   - body: The bytes after the head; less than 2³² of them.
    ///   - descriptors: What goes with it; they stay open here. At most ``mostDescriptors``.
    /// - Returns: What has become of it.
    borrowing func send(_ frame: Frame, body: RawSpan = RawSpan(), descriptors: [CInt] = []) -> Sent {
        var frame = frame
        frame.bodyLength = body.byteCount
        frame.descriptorCount = descriptors.count
        let head = frame.encoded
        // Safe: numbers have no padding, and the span ends before they do.
        return send(head: unsafe head.span.bytes, body: body, descriptors: descriptors)
    }
}
