#if NIO
    internal import NIOCore

    /// What a channel knows and wants of its input.
    struct InputSide {
        /// The maximum number of bytes of one read.
        ///
        /// A handler such as a decoder works on all the bytes of a read in one call, which nothing can interrupt.
        static var mostBytes: Int { 16 << 10 }

        /// True if the channel asks for the next bytes by itself.
        var isAutomatic = true
        /// True if bytes were asked for, and none have arrived since.
        var isWanted = false
        /// True if the end of the input does not close the channel.
        var allowsHalfClosure = false
        /// The maximum number of reads before the other channels have their turns.
        var mostReads: UInt = 4
        var availability = Availability.nothing
        var buffers = NIOPooledRecvBufferAllocator(
            capacity: 4,
            recvAllocator: AdaptiveRecvByteBufferAllocator(minimum: 64, initial: 2_048, maximum: mostBytes))

        /// What can be read from the socket.
        enum Availability {
            /// Nothing: the kernel reports when that changes.
            case nothing
            /// Bytes.
            case bytes
            /// The peer has ended its stream, or the connection has failed: bytes, and behind them the end or an error.
            case last
            /// The input has ended.
            case ended
        }

        /// True if the channel should read now.
        ///
        /// When the peer has ended, the channel reads the rest whether or not it was asked for, as SwiftNIO does, so that it learns of
        /// the end.
        var isDue: Bool {
            switch availability {
            case .nothing, .ended: false
            case .bytes: isWanted
            case .last: true
            }
        }

        /// Records a report of the kernel.
        mutating func isReported(isLast: Bool) {
            switch availability {
            case .nothing, .bytes: availability = isLast ? .last : .bytes
            case .last, .ended: break
            }
        }

        /// Records that the socket is empty.
        mutating func isEmpty() {
            switch availability {
            case .nothing, .bytes, .last: availability = .nothing
            case .ended: break
            }
        }

        /// Records that fewer bytes have arrived than there was room for, so that the socket is empty; after the end of the stream, that
        /// is only known when the end is read.
        mutating func isShort() { if case .bytes = availability { availability = .nothing } }
    }
#endif
