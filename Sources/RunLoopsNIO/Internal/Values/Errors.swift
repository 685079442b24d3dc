#if NIO
    internal import Glibc
    internal import NIOCore
    internal import RunLoops
    internal import Streams

    extension IOError {
        /// The same error for SwiftNIO.
        init(_ error: SystemError) { self.init(errnoCode: error.code, reason: error.call) }
    }

    extension Error {
        /// The error itself, or the same error for SwiftNIO if the kernel has refused.
        var forChannel: any Error { (self as? SystemError).map { IOError($0) } ?? self }
    }

    extension Optional where Wrapped == EventLoopPromise<Void> {
        /// Fails the promise, if there is one.
        func refuse(_ error: any Error) { self?.fail(error.forChannel) }
    }

    extension Connection.EndReason {
        /// The error that the handlers of a channel get when its connection ends.
        var forChannel: any Error {
            switch self {
            case .failed(let error): IOError(error)
            case .reset: IOError(errnoCode: ECONNRESET, reason: "read")
            case .loopEnded: EventLoopError.shutdown
            case .closed: ChannelError.ioOnClosedChannel
            case .peerClosed: ChannelError.eof
            case .unresolved, .timedOut, .incompleteInput, .limit, .tls, .cancelled:
                ConnectionEndedError(reason: self)
            }
        }

        /// The error that SwiftNIO has for a connection that could not be made.
        ///
        /// - Parameter timeout: The time-out of the attempt.
        /// - Returns: The error.
        func whileConnecting(timeout: TimeAmount?) -> any Error {
            switch self {
            case .failed(let error): IOError(error)
            case .reset: IOError(errnoCode: ECONNRESET, reason: "connect")
            case .timedOut: ChannelError.connectTimeout(timeout ?? .zero)
            case .loopEnded: EventLoopError.shutdown
            case .unresolved(let error): error
            case .closed, .peerClosed, .incompleteInput, .limit, .tls, .cancelled:
                ChannelError.ioOnClosedChannel
            }
        }
    }
#endif
