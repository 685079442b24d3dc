#if NIO
    internal import Synchronization
    internal import NIOCore

    extension StreamChannel {
        func close0(error: any Error, mode: CloseMode, promise: EventLoopPromise<Void>?) {
            guard isOpen else { return promise.refuse(ChannelError.alreadyClosed) }
            switch mode {
            case .all: closeAll(error, promise)
            case .input: closeInput(error, promise)
            case .output: closeOutput(error, promise)
            }
        }

        private func closeInput(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
            if case .ended = input.availability { return promise.refuse(ChannelError.inputClosed) }
            if case .closed = output.end { return closeAll(error, promise) }
            guard let socket, isConnected else {
                return promise.refuse(ChannelError.inappropriateOperationForState)
            }
            // If the peer has ended its stream, there is nothing to shut down.
            if (error as? ChannelError) != .eof {
                do throws(IOError) { try socket.end(.input) } catch { return promise.refuse(error) }
            }
            input.availability = .ended
            input.isWanted = false
            promise?.succeed(())
            if isConnected { pipeline.syncOperations.fireUserInboundEventTriggered(ChannelEvent.inputClosed) }
        }

        private func closeOutput(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
            switch output.end {
            case .closed: return promise.refuse(ChannelError.outputClosed)
            case .failed(let error): return promise.refuse(error)
            case .open, .waits: break
            }
            if case .ended = input.availability { return closeAll(error, promise) }
            guard isConnected else { return promise.refuse(ChannelError.inappropriateOperationForState) }
            var waiting = promise
            if case .waits(let earlier) = output.end {
                if let earlier, let promise { earlier.futureResult.cascade(to: promise) }
                waiting = earlier ?? promise
            }
            if output.writes.isEmpty { return endOutput(waiting) }
            output.end = .waits(waiting)
        }

        private func closeAll(_ error: any Error, _ promise: EventLoopPromise<Void>?) {
            let oldPhase = phase
            let old = exchange(&state, with: .closed)
            facts.isActive.store(false, ordering: .relaxed)
            // First everything is closed and consistent, then the user's code is called.
            socket?.close(isComplete: output.byteCount == 0)
            socket = nil
            input.availability = .ended
            input.isWanted = false
            let promises = output.removeAll()
            let end = exchange(&output.end, with: .closed)
            if case .connecting(let attempt) = old { attempt.connector.cancel() }

            if case .waits(let waiting) = end { waiting?.fail(error) }
            for promise in promises { promise.fail(error) }
            if case .connecting(let attempt) = old { attempt.promise.fail(error) }
            if case .opening(let opening) = old { opening.promise?.fail(error) }
            promise?.succeed(())
            tellClosed(in: oldPhase)
            if case .leaving(let departure) = old { departure.fail(error) }
        }

        /// Closes an accepted channel that could not be initialized; any thread may call this.
        func discard() {
            if loop.give({ [self] in closeGently() }) { return }
            // The event loop has ended, so no other thread uses the channel.
            state = .closed
            socket?.close(isComplete: false)
            loop.completeLate(facts.closePromise, .success(()))
        }

        /// Bytes that no handler has taken are dropped, unless the channel gives its connection away.
        func channelRead0(_ data: NIOAny) {
            guard case .leaving(let departure) = state, let bytes = tryUnwrapData(data) as ByteBuffer? else {
                return
            }
            departure.keep(bytes)
        }
    }
#endif
