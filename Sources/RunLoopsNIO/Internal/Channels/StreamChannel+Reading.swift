#if NIO
    internal import NIOCore
    internal import RunLoops

    extension StreamChannel {
        func read0() {
            if !isOpen { return }
            if case .ended = input.availability { return }
            input.isWanted = true
            if isConnected && input.isDue { askForTurn() }
        }

        /// Asks for bytes through the pipeline, if the channel does that by itself.
        func readIfWanted() {
            guard isConnected, input.isAutomatic, !input.isWanted else { return }
            if case .ended = input.availability { return }
            pipeline.syncOperations.read()
        }

        /// Reads what the socket holds, in a bounded number of steps, the first of which is paid.
        func read(_ budget: inout Budget) -> TurnOutcome {
            guard isConnected, input.isDue else {
                noticeReset()
                return .finished
            }
            var count: UInt = 0
            var step = Step.more
            repeat {
                if count > 0 && !budget.spend() { break }
                count += 1
                step = readOnce()
            } while step == .more && count < input.mostReads && isConnected
            switch step {
            case .closed: return .finished
            case .again where count == 1: return .unfinished
            case .more, .last, .again, .nothing: break
            }
            if step != .nothing || count > 1 { endBurst() }
            return isConnected && input.isDue ? .unfinished : .finished
        }

        /// The outcome of one read.
        private enum Step {
            /// Bytes, and more can follow.
            case more
            /// Bytes, and the last ones of the burst.
            case last
            case nothing
            /// Nothing, but another read can receive bytes at once.
            case again
            /// The end of the input, or of the channel, which is reported to the handlers already.
            case closed
        }

        private func readOnce() -> Step {
            guard let socket else { return .closed }
            var limit = 0
            let (buffer, result) = input.buffers.buffer(allocator: allocator) { buffer in
                limit = min(buffer.writableBytes, InputSide.mostBytes)
                return socket.receive(into: &buffer, atMost: limit)
            }
            switch result {
            case .end:
                inputEnded()
                return .closed
            case .bytes(let count, let isDry):
                input.buffers.record(actualReadBytes: count)
                input.isWanted = false
                if isDry { input.isShort() }
                pipeline.syncOperations.fireChannelRead(NIOAny(buffer))
                // As in SwiftNIO, a read that fills only a part of its buffer ends the burst, whether or not more can be read.
                return count < limit ? .last : .more
            case .again: return .again
            case .nothing:
                input.isEmpty()
                if case .failed(let error) = output.end {
                    close0(error: error, mode: .all, promise: nil)
                    return .closed
                }
                return .nothing
            case .failed(let error):
                if case .failed(let first) = output.end {
                    close0(error: first, mode: .all, promise: nil)
                } else {
                    pipeline.syncOperations.fireErrorCaught(error)
                    close0(error: error, mode: .all, promise: nil)
                }
                return .closed
            }
        }

        private func endBurst() {
            if !isConnected { return }
            pipeline.syncOperations.fireChannelReadComplete()
            readIfWanted()
        }

        private func inputEnded() {
            if case .failed(let error) = output.end { return close0(error: error, mode: .all, promise: nil) }
            pipeline.syncOperations.fireChannelReadComplete()
            guard isConnected else { return }
            close0(error: ChannelError.eof, mode: input.allowsHalfClosure ? .input : .all, promise: nil)
        }

        /// Closes the channel if its input has ended and the connection is reset afterwards.
        private func noticeReset() {
            guard case .ended = input.availability, let error = socket?.takeError() else { return }
            close0(error: error, mode: .all, promise: nil)
        }
    }
#endif
