#if NIO
    internal import DequeModule
    internal import NIOCore

    /// What a channel has to send.
    struct OutputSide {
        /// The writes, in order; the first ``flushedCount`` of them are to be sent.
        private(set) var writes = Deque<PendingWrite>()
        private(set) var flushedCount = 0
        /// The number of bytes of all writes.
        private(set) var byteCount = 0
        var marks = ChannelOptions.Types.WriteBufferWaterMark(low: 32 << 10, high: 64 << 10)
        var end = End.open
        /// True if the kernel has accepted no more bytes, and has not reported since that it accepts bytes again.
        var isBlocked = false
        /// True while flushed writes are being sent, so that a flush in a callback does not begin to send them, too.
        var isFlushing = false
        /// True if the channel is writable as far as its handlers have been told.
        var isWritable = true

        /// One write of a handler.
        struct PendingWrite {
            var data: IOData
            let promise: EventLoopPromise<Void>?
        }

        /// The end of the output.
        enum End {
            case open
            /// The output ends when all writes are sent.
            case waits(EventLoopPromise<Void>?)
            /// Sending has failed. The rest of the input is delivered, and then the channel closes with the error.
            case failed(any Error)
            case closed
        }

        /// True if flushed writes wait to be sent.
        var hasFlushed: Bool { flushedCount > 0 }

        /// True if the first flushed write has no bytes.
        var startsEmpty: Bool { hasFlushed && writes.first?.data.readableBytes == 0 }

        mutating func append(_ data: IOData, _ promise: EventLoopPromise<Void>?) {
            byteCount += data.readableBytes
            writes.append(PendingWrite(data: data, promise: promise))
        }

        mutating func flush() { flushedCount = writes.count }

        /// Removes what was sent.
        ///
        /// - Parameter count: The number of sent bytes.
        /// - Returns: The promises of the writes that are complete now, in order.
        mutating func didSend(_ count: Int) -> SentPromises {
            var promises = SentPromises()
            var rest = count
            while flushedCount > 0, let first = writes.first {
                let size = first.data.readableBytes
                if size > rest { break }
                rest -= size
                byteCount -= size
                flushedCount -= 1
                writes.removeFirst()
                if let promise = first.promise { promises.append(promise) }
            }
            if rest > 0 {
                byteCount -= rest
                writes[writes.startIndex].data.skip(rest)
            }
            return promises
        }

        /// Removes all writes.
        ///
        /// - Returns: Their promises, in order.
        mutating func removeAll() -> [EventLoopPromise<Void>] {
            let promises = writes.compactMap { $0.promise }
            writes = []
            flushedCount = 0
            byteCount = 0
            return promises
        }
    }

    /// The promises of the writes that one call has sent; there is often none or one.
    struct SentPromises {
        private var first: EventLoopPromise<Void>?
        private var others: [EventLoopPromise<Void>] = []

        mutating func append(_ promise: EventLoopPromise<Void>) {
            if first == nil { first = promise } else { others.append(promise) }
        }

        func succeed() {
            first?.succeed(())
            for promise in others { promise.succeed(()) }
        }
    }

    extension IOData {
        fileprivate mutating func skip(_ count: Int) {
            switch self {
            case .byteBuffer(var buffer):
                buffer.moveReaderIndex(forwardBy: count)
                self = .byteBuffer(buffer)
            case .fileRegion(var region):
                region.moveReaderIndex(forwardBy: count)
                self = .fileRegion(region)
            }
        }
    }
#endif
