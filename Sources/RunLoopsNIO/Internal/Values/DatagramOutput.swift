#if NIO
    internal import DequeModule
    internal import NIOCore
    internal import Streams

    /// What a channel of datagrams has to send.
    ///
    /// A write is first with the channel, then with the socket, and leaves when the kernel has accepted or refused its datagram.
    struct DatagramOutput {
        /// The writes that the socket has not got, in order; the first ``flushedCount`` of them are to be sent.
        private var writes = Deque<PendingDatagram>()
        private var flushedCount = 0
        /// The writes that the socket has, in order.
        private var departing = Deque<PendingDatagram>()
        /// The number of bytes of all writes.
        private(set) var byteCount = 0
        /// What the socket has told of its datagrams, and the promises do not say yet.
        var departures = Deque<DatagramDeparture>()
        var marks = ChannelOptions.Types.WriteBufferWaterMark(low: 32 << 10, high: 64 << 10)
        /// True while datagrams are passed to the socket, so that a flush in a callback does not begin that, too.
        var isFlushing = false
        /// True if the channel is writable as far as its handlers have been told.
        var isWritable = true

        /// The maximum number of writes that are sent before the other channels have their turns.
        static var mostWrites: Int { 1024 }

        /// One write of a handler.
        struct PendingDatagram {
            let bytes: ByteBuffer
            /// The address; nil for the peer of a connected socket.
            let receiver: Streams.SocketAddress?
            let promise: EventLoopPromise<Void>?
        }

        /// The next write for the socket; nil if there is none, or it is not flushed.
        var next: PendingDatagram? { flushedCount > 0 ? writes.first : nil }

        mutating func append(_ datagram: PendingDatagram) {
            byteCount += datagram.bytes.readableBytes
            writes.append(datagram)
        }

        mutating func flush() { flushedCount = writes.count }

        /// Records that the socket has got the next write.
        mutating func didPassNext() {
            departing.append(writes.removeFirst())
            flushedCount -= 1
        }

        /// Removes the first write that the socket has.
        ///
        /// - Returns: Its promise.
        mutating func didDepart() -> EventLoopPromise<Void>? {
            guard let first = departing.popFirst() else { return nil }
            byteCount -= first.bytes.readableBytes
            return first.promise
        }

        /// Removes all writes.
        ///
        /// - Returns: Their promises, in order.
        mutating func removeAll() -> [EventLoopPromise<Void>] {
            let promises = departing.compactMap { $0.promise } + writes.compactMap { $0.promise }
            writes = []
            departing = []
            departures = []
            flushedCount = 0
            byteCount = 0
            return promises
        }
    }
#endif
