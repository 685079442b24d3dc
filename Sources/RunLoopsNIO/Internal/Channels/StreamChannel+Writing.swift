#if NIO
    internal import Synchronization
    internal import NIOCore

    extension StreamChannel {
        func write0(_ data: NIOAny, promise: EventLoopPromise<Void>?) {
            guard isOpen else { return promise.refuse(ChannelError.ioOnClosedChannel) }
            switch output.end {
            case .open, .waits: break
            case .failed(let error): return promise.refuse(error)
            case .closed: return promise.refuse(ChannelError.outputClosed)
            }
            output.append(unwrapData(data, as: IOData.self), promise)
            guard output.byteCount > output.marks.high, isWritable else { return }
            facts.isWritable.store(false, ordering: .relaxed)
            output.isWritable = false
            pipeline.syncOperations.fireChannelWritabilityChanged()
        }

        func flush0() {
            guard isOpen else { return }
            output.flush()
            if isConnected && !output.isBlocked { sendFlushed() }
        }

        /// Sends the flushed writes, until the kernel accepts no more, or the other channels shall have their turns.
        ///
        /// - Parameter mostCalls: The maximum number of system calls; each sends at most 256 KiB.
        func sendFlushed(mostCalls: Int = 16) {
            if output.isFlushing { return }
            output.isFlushing = true
            var calls = 0
            while isConnected, output.hasFlushed, !output.isBlocked, let socket {
                if case .failed = output.end { break }
                if calls == mostCalls {
                    askForTurn()
                    break
                }
                calls += 1
                switch socket.send(output) {
                case .bytes(let count):
                    let promises = output.didSend(count)
                    if output.byteCount < output.marks.low {
                        facts.isWritable.store(true, ordering: .relaxed)
                    }
                    promises.succeed()
                case .blocked:
                    output.isBlocked = true
                    socket.watchForWriting(true)
                case .failed(let error):
                    output.isFlushing = false
                    return sendingFailed(error)
                }
                tellWritability()
            }
            output.isFlushing = false
            guard isConnected, !output.hasFlushed else { return }
            socket?.watchForWriting(false)
            if output.writes.isEmpty, case .waits(let promise) = output.end { endOutput(promise) }
        }

        /// Tells the handlers that the channel is writable again, when no flushed write can be sent now.
        private func tellWritability() {
            guard !output.isWritable, isConnected, output.isBlocked || !output.hasFlushed else { return }
            guard isWritable else { return }
            output.isWritable = true
            pipeline.syncOperations.fireChannelWritabilityChanged()
        }

        /// Closes the channel after a failure to send.
        ///
        /// If the handlers want input, the channel first delivers what has arrived, because there is no later chance.
        private func sendingFailed(_ error: any Error) {
            readIfWanted()
            guard isConnected else { return }
            if input.isWanted, input.availability != .ended {
                output.end = failing(with: error)
                input.isReported(isLast: true)
                return askForTurn()
            }
            close0(error: error, mode: .all, promise: nil)
        }

        /// The end of an output that has failed; a promise that waits for the end fails.
        private func failing(with error: any Error) -> OutputSide.End {
            if case .waits(let promise) = output.end { promise?.fail(error) }
            return .failed(error)
        }

        /// Ends the stream to the peer, because all writes are sent.
        func endOutput(_ promise: EventLoopPromise<Void>?) {
            guard let socket else { return }
            output.end = .closed
            do throws(IOError) {
                try socket.end(.output)
                promise?.succeed(())
            } catch { promise?.fail(error) }
            guard isConnected else { return }
            pipeline.syncOperations.fireUserInboundEventTriggered(ChannelEvent.outputClosed)
        }
    }
#endif
