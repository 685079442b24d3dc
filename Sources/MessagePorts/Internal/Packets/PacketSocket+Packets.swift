internal import CRunLoops
internal import Glibc
internal import RunLoops

extension PacketSocket {
    /// The result of sending a packet.
    enum Sent: Equatable {
        /// The kernel has the whole packet, with all of its descriptors.
        case sent
        /// The socket has no room for the packet now, and nothing was sent.
        case wouldBlock
        /// The other end is closed, and nothing was sent.
        case closed
        /// The packet has more than `limit` bytes, and nothing was sent.
        case tooLarge(limit: Int)
        /// The kernel has no memory for the packet, or the user has too many descriptors in flight. Nothing was sent. A later
        /// attempt may succeed, but the kernel does not report when.
        case outOfKernelResources
        /// The kernel has refused with an error that no other case covers. Nothing was sent.
        case failed(SystemError)
    }

    /// Sends one packet without blocking, and without copying it in this process.
    ///
    /// - Parameters:
    ///   - head: The packet's first bytes, at least one.
    ///   - body: The bytes after the head.
    ///   - descriptors: The descriptors to duplicate for the other end, at most ``mostDescriptors``. They stay open in this
    ///     process.
    /// - Returns: The result.
    borrowing func send(head: RawSpan, body: RawSpan, descriptors: [CInt]) -> Sent {
        let socket = descriptor
        // Safe: the kernel reads the two spans and our array, within their bounds.
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
        case ENOBUFS, ENOMEM, ETOOMANYREFS: return .outOfKernelResources
        default: return .failed(SystemError(call: "sendmsg", code: code))
        }
    }

    /// The result of receiving one packet.
    enum Received: ~Copyable {
        /// The first `length` bytes of the buffer are one packet, which arrived with these descriptors.
        case packet(length: Int, OwnedDescriptors)
        /// No packet has arrived yet.
        case wouldBlock
        /// The end: no more packets will arrive.
        case end
        /// A packet was longer than the buffer. The bytes beyond the buffer are lost. The associated value holds the packet's
        /// descriptors, which were received.
        case tooLong(length: Int, OwnedDescriptors)
        /// A packet carries more descriptors than are allowed. The packet stays in the kernel's queue. To count its descriptors,
        /// this process had to open duplicates of some of them, which the associated value holds.
        case exceedsAllowance(OwnedDescriptors)
        /// A packet carries more descriptors than this process could open. The associated value holds the descriptors that were
        /// opened. The packet stays in the kernel's queue, unless the allowance was ``DescriptorQuota/Allowance/any``.
        case lacksDescriptors(OwnedDescriptors)
        /// The kernel has refused with an error that no other case covers. Nothing was received.
        case failed(SystemError)
    }

    /// Receives one packet, without blocking unless `waits` is true.
    ///
    /// The kernel returns the same result for an empty packet and for a closed connection. So this function checks whether the
    /// other end is closed. An empty packet counts as a packet while the other end is open, and as `Received.end` once that end is
    /// closed.
    ///
    /// - Parameters:
    ///   - buffer: The memory for the packet's bytes, of at least one byte.
    ///   - allowance: The number of descriptors that the packet may carry.
    ///   - waits: True if the call blocks until there is a packet or no more packets will arrive, for example after ``shutDown()``.
    ///     Only the socket that made the connection can block: other sockets are non-blocking.
    /// - Returns: The result. If the quota of the other end is known, the descriptors are counted in that quota.
    borrowing func receive(
        into buffer: UnsafeMutableRawBufferPointer, _ allowance: DescriptorQuota.Allowance = .any,
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
            // From here on, the descriptors have an owner, which closes them even if the packet is discarded.
            let descriptors = OwnedDescriptors(
                adopting: unsafe Array(list.prefix(packet.descriptor_count)), closer: quota)
            if packet.exceeds_permitted { return .exceedsAllowance(descriptors) }
            if packet.lacks_bytes { return .tooLong(length: packet.length, descriptors) }
            if packet.lacks_descriptors { return .lacksDescriptors(descriptors) }
            if packet.length == 0 && descriptors.isEmpty && runloops_has_hung_up(socket) { return .end }
            return .packet(length: packet.length, descriptors)
        }
    }
}

extension PacketSocket {
    /// Sends a frame with its body as one packet, without blocking.
    ///
    /// - Parameters:
    ///   - frame: The head. This function sets the body length and the descriptor count in the head.
    ///   - body: The bytes after the head, fewer than 2³².
    ///   - descriptors: The descriptors to duplicate for the other end, at most ``mostDescriptors``. They stay open in this
    ///     process.
    /// - Returns: The result.
    borrowing func send(_ frame: Frame, body: RawSpan = RawSpan(), descriptors: [CInt] = []) -> Sent {
        var frame = frame
        frame.bodyLength = body.byteCount
        frame.descriptorCount = descriptors.count
        let head = frame.encoded
        // Safe: numbers have no padding, and the span does not outlive them.
        return send(head: unsafe head.span.bytes, body: body, descriptors: descriptors)
    }
}
