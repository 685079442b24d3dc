internal import CRunLoops
internal import RunLoops

// Sending the packets that a peer had no room for, on the thread of the loop that has the port's claim.

extension PortConnection {
    /// The result of sending the backlog.
    enum Resent: Equatable {
        /// The caller has nothing more to do.
        ///
        /// All packets are sent, or the connection has ended, or there is no room for the rest. In the last case, the port's epoll
        /// set will report when there is room.
        case done
        /// The kernel was out of resources. The caller tries again later.
        case outOfKernelResources
        /// The kernel was out of resources for too long, or has refused a packet, so the connection has ended.
        case failed
    }

    /// Sends the packets of the backlog, while there is room.
    ///
    /// Call this only on the thread of the port's loop.
    ///
    /// - Parameters:
    ///   - now: The current time.
    ///   - sent: Called for each packet that was sent.
    /// - Returns: The result.
    func sendBacklog(now: Moment, _ sent: () -> Void = {}) -> Resent {
        while let packet = outbox.withLock({ $0.backlog.first }) {
            // Only this thread removes packets, so the first packet stays the first.
            let bytes = packet.bytes
            // Safe: bytes have no padding.
            let body = unsafe bytes.span.bytes
            switch socket.sendMakingRoom(packet.frame, body: body, descriptors: packet.descriptors) {
            case .wouldBlock:
                outbox.withLock { awaitRoom(true, &$0) }
                return .done
            case .outOfKernelResources:
                let since = unsafe refusedSince ?? now
                unsafe refusedSince = since
                if since.advanced(by: PortConnection.patience.nanosecondsRoundedUp) <= now {
                    _ = end()
                    return .failed
                }
                // The socket has room, and the set would report that in every pass. So the set is made to stop reporting room until
                // the next attempt, which the port's alarm starts.
                outbox.withLock { awaitRoom(false, &$0) }
                return .outOfKernelResources
            case .closed:
                _ = end()
                return .done
            // A packet that cannot be sent now cannot be sent later. A requester would wait forever, unless its connection ends.
            case .tooLarge, .failed:
                _ = end()
                return .failed
            case .sent:
                unsafe refusedSince = nil
                sent()
                outbox.withLock { outbox in
                    if outbox.isEnded { return }
                    outbox.backlog.removeFirst()
                    if outbox.backlog.isEmpty { awaitRoom(false, &outbox) }
                }
            }
        }
        return .done
    }

    /// Returns true if a message was refused and there is room again.
    ///
    /// After it has returned true, this returns false until another message is refused.
    func takeRoomNotice() -> Bool { outbox.withLock { $0.backlog.takeRoomNotice() } }
}
