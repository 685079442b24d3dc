#if NIO
    internal import DequeModule
    internal import Glibc
    internal import NIOCore
    internal import RunLoops
    internal import Streams

    /// A connection of Streams that carries the bytes of a channel, with TLS if the connection has it.
    ///
    /// The connection keeps its socket, its filter, its time-outs, its modes, and its place in the limits of its listener. It serves
    /// itself, and only notes for the channel what is new, because the loop can serve it while a handler of the channel is running.
    ///
    /// > Thread safety: the loop's thread only.
    final class ChannelConnection: ChannelTransport, StreamDriver {
        let connection: Connection
        private var life = Life.driven
        private var report: ((StreamReadiness) -> Void)?
        /// What the filter has taken of the channel's writes, and has not sent.
        private var taken = TakenBytes()
        var wantsInput = true
        var hasUnsent = false

        /// What became of the connection.
        private enum Life {
            case driven
            /// The connection has ended by itself; the channel still has to hear of it.
            case ended(any Error)
            /// The channel has closed the connection, or has given it away.
            case left
        }

        /// Takes over a connection.
        init(_ connection: Connection) {
            self.connection = connection
            connection.drive(by: self)
            // Nothing reports the end of a connection that has ended before.
            if !connection.isOpen { life = .ended(ChannelError.ioOnClosedChannel) }
        }

        var descriptor: CInt { connection.drivenDescriptor }
        var localAddress: NIOCore.SocketAddress? { connection.localAddress.flatMap { .init($0) } }
        var peerAddress: NIOCore.SocketAddress? { connection.peerAddress.flatMap { .init($0) } }
        /// True once the connection is made, with TLS after the hand-shake.
        var isMade: Bool { connection.isConnected }

        /// The error for which the connection has ended; nil if it has not.
        var failure: (any Error)? { if case .ended(let error) = life { error } else { nil } }

        // MARK: - Readiness

        func watch(
            in core: EventLoopCore, _ report: @escaping (StreamReadiness) -> Void
        ) throws(SystemError) {
            self.report = report
            for mode in core.modes { try core.runLoop.add(connection, forMode: mode) }
            if connection.holdsInput { report(.bytes) }
        }

        func watchForWriting(_ isWanted: Bool) { if isWanted { connection.awaitSpace() } }

        func connectionIsMade() { report?(connection.holdsInput ? .bytes : []) }

        func connectionIsReady(_ readiness: StreamReadiness) { report?(readiness) }

        func connectionHasEnded(_ reason: Connection.EndReason) {
            if case .driven = life { life = .ended(reason.forChannel) }
            report?([.bytes, .end, .error])
        }

        // MARK: - Receiving

        /// True if a read that fills only a part of its buffer has emptied the socket; a filter reads until the socket is empty.
        private lazy var showsEmptiness = connection.filter != nil || connection.peerAddress?.host != nil

        func receive(into buffer: inout ByteBuffer, atMost limit: Int) -> TransportReceipt {
            // Stored bytes come first, and say nothing about the socket.
            let isStored = connection.storesInput
            var receipt = StreamReceipt.nothing
            // Safe: the connection writes at most as many bytes as there is room for.
            _ = unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) { space in
                receipt = unsafe connection.receive(
                    into: UnsafeMutableRawBufferPointer(rebasing: space[..<min(space.count, limit)]))
                if case .bytes(let count) = receipt { return count }
                return 0
            }
            switch receipt {
            case .bytes(let count):
                let isDry = !isStored && count < limit && showsEmptiness && !connection.holdsInput
                return .bytes(count, isDry: isDry)
            case .end: return .end
            case .failed(let reason): return .failed(reason.forChannel)
            case .nothing:
                if let failure { return .failed(failure) }
                return connection.holdsInput ? .again : .nothing
            }
        }

        // MARK: - Sending

        func send(_ output: OutputSide) -> TransportResult {
            hasUnsent = true
            guard connection.isReadyToSend else { return .blocked }
            let result =
                connection.filter.map { send(output, through: $0) }
                ?? output.send(to: connection.drivenOutput)
            if case .bytes(let count) = result {
                connection.didSend(count)
                hasUnsent = count < output.byteCount
            }
            return result
        }

        /// Sends flushed writes through the filter.
        ///
        /// - Returns: The number of bytes that the kernel has accepted, as encrypted bytes.
        private func send(_ output: OutputSide, through filter: any StreamFilter) -> TransportResult {
            do { try taken.offer(output, to: filter) } catch { return .failed(error) }
            let result = filter.flush()
            let count = taken.sent(by: filter)
            if case .failed(let reason) = result { return .failed(reason.forChannel) }
            if count > 0 || taken.isEmpty && output.startsEmpty { return .bytes(count) }
            if filter.heldCount > 0 { return .blocked }
            return .failed(IOError(errnoCode: EPIPE, reason: "write"))
        }

        func end(_ direction: CloseMode) throws(IOError) {
            if direction == .input {
                let code = connection.endDrivenInput()
                if code != 0 { throw IOError(errnoCode: code, reason: "shutdown") }
                return
            }
            let code = connection.endDrivenOutput()
            if code != 0 { throw IOError(errnoCode: code, reason: "shutdown") }
        }

        // MARK: - The end

        func takeError() -> (any Error)? {
            if let failure { return failure }
            let code = connection.takeDrivenError()
            return code == 0 ? nil : IOError(errnoCode: code, reason: "connection reset (error set)")
        }

        func close(isComplete: Bool) {
            report = nil
            guard case .driven = life else { return }
            life = .left
            connection.endDriven(isComplete: isComplete)
        }

        /// Gives the connection away, without handlers.
        ///
        /// - Parameter unread: Bytes that the channel has received, and that are the first ones for the next receiver.
        /// - Returns: The connection; nil if it has ended.
        func release(unread: ByteBuffer) -> Connection? {
            report = nil
            guard case .driven = life, connection.isOpen else { return nil }
            life = .left
            connection.endDriving(unread: unread.readableBytesSpan)
            return connection
        }
    }
#endif
