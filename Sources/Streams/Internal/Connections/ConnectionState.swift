internal import RunLoops

/// The parts of a connection that change as bytes are sent and received.
struct ConnectionState: ~Copyable {
    var options: Connection.Options
    var machine: ConnectionMachine
    var socket: StreamSocket
    var input = InputBuffer()
    var output = OutputQueue()
    var deadlines = ConnectionDeadlines(at: .now())

    /// The scanner that cuts the input into frames for a handler; nil if there is no handler of frames.
    var scanner: FrameScanner?

    /// The number of times that the connection's receiver was set.
    var receiverVersion = 0
    var due = Due()

    /// What the connection has still to do.
    struct Due: OptionSet {
        let rawValue: UInt8

        /// The connection is in a list of connections to be settled at the end of a pass.
        static var settling: Due { Due(rawValue: 1) }
        /// That list is the one of a mode in which the loop did not run.
        static var settlingInOtherMode: Due { Due(rawValue: 2) }
        /// The connection must ask to be served again when its handler has returned.
        ///
        /// This happens if a handler of the connection runs the loop, and the loop then serves the connection because it had asked
        /// to be served. The connection can do nothing while its handler is running.
        static var service: Due { Due(rawValue: 4) }
        /// The stored input can contain whole frames that were not delivered, because the budget of the loop's step was spent.
        ///
        /// The connection receives no more bytes until it has delivered these frames.
        static var frames: Due { Due(rawValue: 8) }
        /// The idle time-out has passed, but bytes had arrived by then.
        static var idleCheck: Due { Due(rawValue: 16) }
    }

    var handlers = Connection.Handlers()
    var places = MemberPlaces(.reading)

    /// The member that waits for the second descriptor; nil if the connection has only one.
    var outputEnd: OutputEnd?

    var received = 0
    var sent = 0
    /// The maximum number of bytes that are received at a time.
    var readSize = LoopStreams.bufferSize

    init(_ socket: consuming StreamSocket, _ options: Connection.Options) {
        self.options = options
        let (receives, sends) = socket.directions
        machine = ConnectionMachine(
            isConnected: socket.descriptor >= 0, receives: receives, sends: sends)
        self.socket = socket
    }

    // These members access the machine without a copy, which the compiler would otherwise make.

    /// Returns the machine's next step, and records that it is taken.
    mutating func nextStep() -> ConnectionMachine.Step? { machine.nextStep(hasUnsent: hasUnsent) }

    /// True if the connection should receive bytes.
    func wantsInput(hasReceiver: Bool) -> Bool {
        machine.wantsInput(hasReceiver: hasReceiver) && (!due.contains(.frames) || machine.isClosing)
    }

    /// True if all bytes are sent, and the connection waits for the peer to close its side.
    var isLingering: Bool { machine.isLingering }

    /// Returns the earliest deadline, and its cause; nil if there is none.
    func nextDeadline() -> (moment: Moment, cause: ConnectionDeadlines.Cause)? {
        deadlines.next(machine, options)
    }

    /// Sends unsent bytes, as many as one system call accepts.
    mutating func send() -> StreamSending { socket.send(&output) }

    /// True if the kernel has not accepted all written bytes.
    var hasUnsent: Bool { !output.isEmpty || socket.holdsOutput }
}
