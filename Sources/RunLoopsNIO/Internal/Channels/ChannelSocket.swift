#if NIO
    internal import CRunLoops
    internal import Glibc
    internal import NIOCore
    internal import RunLoops
    internal import Streams

    /// The connected socket of a channel, which belongs to the channel alone.
    ///
    /// > Thread safety: any thread until the socket is watched; then the loop's thread only.
    final class ChannelSocket: ChannelTransport {
        let descriptor: CInt
        private var owner: Owner
        private var source: DescriptorSource?
        /// True if a read that fills only a part of its buffer has emptied the socket.
        ///
        /// A read from a Unix socket also ends where bytes of another sender begin.
        private let showsEmptiness: Bool

        /// The owner of the descriptor.
        private enum Owner: ~Copyable {
            /// A socket that counts towards the limits of its listener until it is closed.
            case accepted(AcceptedSocket)
            case descriptor(OwnedDescriptor)
            case none
        }

        init(_ accepted: consuming AcceptedSocket) {
            descriptor = accepted.descriptor
            showsEmptiness = accepted.peerAddress.host != nil
            owner = .accepted(accepted)
        }

        init(_ socket: consuming OwnedDescriptor) {
            descriptor = socket.descriptor
            showsEmptiness = Streams.SocketAddress(peerOf: descriptor)?.host != nil
            owner = .descriptor(socket)
        }

        var localAddress: NIOCore.SocketAddress? {
            Streams.SocketAddress(nameOf: descriptor).flatMap { .init($0) }
        }
        var peerAddress: NIOCore.SocketAddress? {
            Streams.SocketAddress(peerOf: descriptor).flatMap { .init($0) }
        }

        // MARK: - Readiness

        /// Begins to watch the socket.
        ///
        /// The kernel reports each change once. So a channel that does not read is told when its peer ends or resets the connection,
        /// and costs nothing while bytes wait in the socket.
        func watch(
            in core: EventLoopCore, _ report: @escaping (StreamReadiness) -> Void
        ) throws(SystemError) {
            let source = DescriptorSource(descriptor, interest: .read, trigger: .edge) { _, readiness in
                report(StreamReadiness(readiness))
            }
            self.source = source
            do throws(SystemError) {
                for mode in core.modes { try core.runLoop.add(source, forMode: mode) }
            } catch {
                source.invalidate()
                throw error
            }
        }

        /// Asks the kernel to report when it accepts bytes again, or no longer to report that.
        func watchForWriting(_ isWanted: Bool) {
            guard let source, source.isValid else { return }
            source.interest = isWanted ? [.read, .write] : .read
        }

        func close(isComplete: Bool) {
            source?.invalidate()
            source = nil
            owner = .none
        }

        // MARK: - Bytes

        func receive(into buffer: inout ByteBuffer, atMost limit: Int) -> TransportReceipt {
            var result = TransportResult.blocked
            // Safe: the kernel writes at most as many bytes as there is room for.
            _ = unsafe buffer.writeWithUnsafeMutableBytes(minimumWritableBytes: 0) { space in
                unsafe result = TransportResult(
                    runloops_receive_bytes(descriptor, space.baseAddress, min(space.count, limit)), "read")
                if case .bytes(let count) = result { return count }
                return 0
            }
            return switch result {
            case .bytes(0): .end
            case .bytes(let count): .bytes(count, isDry: count < limit && showsEmptiness)
            case .blocked: .nothing
            case .failed(let error): .failed(error)
            }
        }

        func send(_ output: OutputSide) -> TransportResult {
            output.send(to: DrivenOutput(descriptor: descriptor, isSocket: true))
        }

        func end(_ direction: CloseMode) throws(IOError) {
            let how = direction == .input ? CInt(SHUT_RD) : CInt(SHUT_WR)
            if shutdown(descriptor, how) == -1 { throw IOError(errnoCode: errno, reason: "shutdown") }
        }

        func takeError() -> (any Error)? {
            let code = runloops_take_error(descriptor)
            return code == 0 ? nil : IOError(errnoCode: code, reason: "connection reset (error set)")
        }
    }

    extension StreamReadiness {
        fileprivate init(_ readiness: DescriptorSource.Readiness) {
            self = []
            if readiness.contains(.readable) { insert(.bytes) }
            if readiness.contains(.hangUp) { formUnion([.bytes, .end]) }
            if readiness.contains(.error) { formUnion([.bytes, .end, .error]) }
            if readiness.contains(.writable) { insert(.space) }
        }
    }
#endif
