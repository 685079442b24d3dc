#if HTTPServers
    internal import HTTPTypes
    internal import RunLoops
    internal import Streams

    /// The response to a request, as far as it was given.
    enum ExchangeResponse {
        case none
        /// The response has begun, and the program writes its body.
        case stream(BodyFraming)
        /// The response has begun, and its body is the rest of a file.
        case file(FileBody)
        /// The response is an upgrade, which happens when it is sent.
        case upgrade(Upgrade)
        /// The complete response was written to the connection.
        case written
    }

    /// The connection's next owner.
    struct Upgrade {
        let options: Connection.Options
        let handler: (Connection) -> Void
    }

    /// How the end of a response's body is marked.
    enum BodyFraming {
        /// By its length, of which this many bytes are left.
        case counted(Int)
        case chunked
        /// By the end of the connection, for clients of HTTP/1.0.
        case untilClose

        /// True if a client takes the end of the connection for the end of the body.
        var endsWithConnection: Bool { if case .untilClose = self { true } else { false } }
    }

    /// The length of a response's body, as its header says it.
    enum StatedLength {
        case counted(Int)
        case chunked
        /// Nothing is said.
        case none
    }
#endif
