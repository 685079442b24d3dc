#if NIO
    internal import CRunLoops
    internal import Glibc
    internal import NIOCore
    internal import RunLoops
    internal import Streams

    /// What carries the bytes of a channel: a socket of its own, or a connection of Streams.
    ///
    /// The channel has the order of events, the writes with their promises, and the input side. The transport receives and sends when
    /// the channel says so, and no call of it waits or calls the channel; only the function that ``watch(in:_:)`` gets is called by the
    /// loop, outside the turns of the channel.
    ///
    /// > Thread safety: the loop's thread only.
    protocol ChannelTransport: AnyObject {
        /// The socket's descriptor, for options; -1 if there is none.
        var descriptor: CInt { get }
        var localAddress: NIOCore.SocketAddress? { get }
        var peerAddress: NIOCore.SocketAddress? { get }

        /// Begins to watch.
        ///
        /// Each change is reported once. So a channel that does not read is told when its peer ends or resets the connection, and costs
        /// nothing while bytes wait.
        func watch(in core: EventLoopCore, _ report: @escaping (StreamReadiness) -> Void) throws(SystemError)

        /// Asks for a report when bytes can be sent again, or no longer asks.
        func watchForWriting(_ isWanted: Bool)

        /// Receives bytes into the free space of a buffer.
        ///
        /// - Parameters:
        ///   - buffer: The buffer.
        ///   - limit: The maximum number of bytes, for which the buffer has space.
        /// - Returns: What was received.
        func receive(into buffer: inout ByteBuffer, atMost limit: Int) -> TransportReceipt

        /// Sends flushed writes, as many as one step takes.
        func send(_ output: OutputSide) -> TransportResult

        /// Ends one direction; all writes are sent.
        ///
        /// - Throws: `IOError`, for example if the peer has reset the connection.
        func end(_ direction: CloseMode) throws(IOError)

        /// The error for which the transport has ended, or that is pending, which the call clears; nil if there is none.
        func takeError() -> (any Error)?

        /// Closes the transport at once, without a report.
        ///
        /// - Parameter isComplete: False if writes are lost.
        func close(isComplete: Bool)
    }

    /// The result of a step that receives.
    enum TransportReceipt {
        /// The number of bytes; `isDry` if nothing else can be received before the next report.
        case bytes(Int, isDry: Bool)
        /// The peer has ended its stream.
        case end
        /// Nothing can be received before the next report.
        case nothing
        /// Nothing was received, but another step can receive bytes at once.
        case again
        case failed(any Error)
    }

    /// The result of a step that sends.
    enum TransportResult {
        case bytes(Int)
        /// Nothing can be sent before the next report.
        case blocked
        case failed(any Error)

        /// Makes the result of a system call from what it returned.
        init(_ count: Int, _ call: String) {
            if count >= 0 {
                self = .bytes(count)
                return
            }
            let code = errno
            self = code == EAGAIN ? .blocked : .failed(IOError(errnoCode: code, reason: call))
        }
    }
#endif
