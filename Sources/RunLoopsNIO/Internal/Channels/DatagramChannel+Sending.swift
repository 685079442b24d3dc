#if NIO
    internal import DequeModule
    internal import Glibc
    internal import NIOCore
    internal import RunLoops
    internal import Streams
    internal import Synchronization

    extension DatagramChannel {
        func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) {
            guard isOpen else { return promise.refuse(ChannelError.ioOnClosedChannel) }
            do throws(IOError) { output.append(try datagram(of: data, promise)) } catch {
                return promise.refuse(error)
            }
            guard output.byteCount > output.marks.high, isWritable else { return }
            facts.isWritable.store(false, ordering: .relaxed)
            output.isWritable = false
            pipeline.syncOperations.fireChannelWritabilityChanged()
        }

        /// The datagram of a write, which is an envelope, or only the bytes if the socket is connected.
        private func datagram(
            of data: NIOAny, _ promise: EventLoopPromise<Void>?
        ) throws(IOError) -> DatagramOutput.PendingDatagram {
            guard let envelope = tryUnwrapData(data) as AddressedEnvelope<ByteBuffer>? else {
                if peer == nil { throw IOError(errnoCode: EDESTADDRREQ, reason: "write") }
                return .init(bytes: unwrapData(data), receiver: nil, promise: promise)
            }
            if let peer {
                if envelope.remoteAddress != peer { throw IOError(errnoCode: EISCONN, reason: "write") }
                return .init(bytes: envelope.data, receiver: nil, promise: promise)
            }
            guard let receiver = envelope.remoteAddress.forStreams else {
                throw IOError(errnoCode: EAFNOSUPPORT, reason: "write")
            }
            return .init(bytes: envelope.data, receiver: receiver, promise: promise)
        }

        func flush0() {
            guard isOpen else { return }
            output.flush()
            sendFlushed()
        }

        /// Passes flushed writes to the socket, as many as it takes, and the socket offers them to the kernel.
        ///
        /// After a number of writes, the other channels have their turns.
        func sendFlushed() {
            guard let socket, !output.isFlushing, output.next != nil else { return }
            output.isFlushing = true
            var count = 0
            while count < DatagramOutput.mostWrites, let next = output.next,
                socket.send(next.bytes.readableBytesSpan, to: next.receiver)
            {
                output.didPassNext()
                count += 1
            }
            socket.flush()
            output.isFlushing = false
            if count == DatagramOutput.mostWrites { loop.core.enqueue(self) }
            completeDepartures()
        }

        /// Completes the promises of the datagrams that the kernel has accepted or refused.
        func completeDepartures() {
            while let departure = output.departures.popFirst() {
                switch departure {
                case .accepted(let count): for _ in 0..<count { output.didDepart()?.succeed(()) }
                case .refused(let error):
                    output.didDepart()?.fail(
                        error.code == EMSGSIZE ? ChannelError.writeMessageTooLarge : IOError(error))
                }
            }
            guard !output.isWritable, isActive, output.byteCount < output.marks.low else { return }
            output.isWritable = true
            facts.isWritable.store(true, ordering: .relaxed)
            pipeline.syncOperations.fireChannelWritabilityChanged()
        }
    }

    extension DatagramSocket.EndReason {
        /// The error that the handlers of a channel get when its socket ends.
        var forChannel: any Error {
            switch self {
            case .failed(let error): IOError(error)
            case .loopEnded: EventLoopError.shutdown
            case .closed, .cancelled: ChannelError.ioOnClosedChannel
            }
        }
    }

    extension DatagramSocket.Address {
        /// The address that SwiftNIO names; nil for a kind that Streams has not.
        init?(_ address: NIOCore.SocketAddress) {
            if let path = address.pathname, !path.isEmpty {
                self = .unix(path: path)
            } else if let address = address.forStreams {
                self = .address(address)
            } else {
                return nil
            }
        }
    }
#endif
