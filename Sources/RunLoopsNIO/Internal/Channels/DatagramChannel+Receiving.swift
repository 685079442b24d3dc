#if NIO
    internal import DequeModule
    internal import NIOCore
    internal import RunLoops
    internal import Streams

    /// What a channel of datagrams has received, and wants to.
    struct ReceivingSide {
        var isAutomatic = true
        /// True if datagrams were asked for, and none were delivered since.
        var isWanted = false
        /// The maximum number of datagrams before the handlers are told that a read is complete.
        var mostDatagrams: UInt = 4
        /// Datagrams that the handlers have not seen.
        var arrivals = Deque<AddressedEnvelope<ByteBuffer>>()
        /// Errors of datagrams that were sent, which the handlers have not seen.
        var failures = Deque<IOError>()

        /// The number of datagrams that wait for the handlers before the socket pauses: as many as the socket takes from the kernel at
        /// once.
        static var mostWaiting: Int { 32 }

        /// Keeps an error for the handlers; one beyond the socket's own maximum is dropped.
        mutating func note(_ error: IOError) { if failures.count < 64 { failures.append(error) } }

        mutating func end() {
            arrivals = []
            failures = []
            isWanted = false
        }
    }

    extension DatagramChannel {
        func read0() {
            guard isOpen else { return }
            input.isWanted = true
            updateReceiving()
            if !input.arrivals.isEmpty { loop.core.enqueue(self) }
        }

        func readIfWanted() {
            if input.isAutomatic && !input.isWanted && isActive { pipeline.syncOperations.read() }
        }

        /// Pauses the socket, or lets it receive, as the handlers want.
        func updateReceiving() {
            guard let socket else { return }
            let isPaused = !input.isWanted || input.arrivals.count >= ReceivingSide.mostWaiting
            if socket.isReadingPaused != isPaused { socket.isReadingPaused = isPaused }
        }

        func arrived(_ bytes: RawSpan, from sender: Streams.SocketAddress) {
            // Datagrams come over IP and from Unix sockets only, and SwiftNIO has both kinds of addresses.
            guard let sender = NIOCore.SocketAddress(sender) else { return }
            var buffer = allocator.buffer(capacity: bytes.byteCount)
            buffer.writeBytes(bytes)
            input.arrivals.append(AddressedEnvelope(remoteAddress: sender, data: buffer))
            updateReceiving()
            loop.core.enqueue(self)
        }

        /// Passes datagrams to the handlers, the first of which is paid.
        func deliver(_ budget: inout Budget) -> TurnOutcome {
            guard isActive, input.isWanted, !input.arrivals.isEmpty else { return .finished }
            var count: UInt = 0
            repeat {
                if count > 0 && !budget.spend() { break }
                count += 1
                input.isWanted = false
                pipeline.syncOperations.fireChannelRead(NIOAny(input.arrivals.removeFirst()))
            } while count < input.mostDatagrams && isActive && !input.arrivals.isEmpty
            guard isActive else { return .finished }
            pipeline.syncOperations.fireChannelReadComplete()
            readIfWanted()
            updateReceiving()
            return isActive && input.isWanted && !input.arrivals.isEmpty ? .unfinished : .finished
        }
    }
#endif
