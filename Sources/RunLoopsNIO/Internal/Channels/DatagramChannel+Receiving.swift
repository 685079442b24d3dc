#if NIO
    internal import NIOCore
    internal import RunLoops
    internal import Streams

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
            let isPaused = !input.isWanted || input.arrivals.count >= DatagramInput.mostWaiting
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
