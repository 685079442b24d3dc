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

    /// True if the kernel accepted no more bytes at the last attempt to send.
    ///
    /// The kernel reports the socket as writable when it accepts bytes again.
    var isBlocked = false
    /// True if the unsent bytes have exceeded the high-water mark and have not fallen to half of it since.
    var isAboveMark = false
    /// True if the connection must ask to be served again when its handler has returned.
    ///
    /// This happens if a handler of the connection runs the loop, and the loop then serves the connection because it had asked to
    /// be served. The connection can do nothing while its handler is running.
    var wasAsked = false
    /// The number of times that the connection's receiver was set.
    var receiverVersion = 0
    /// True while the connection is in the list of connections to be settled at the end of the pass.
    var isUnsettled = false

    var handlers = Connection.Handlers()
    var places = MemberPlaces(.reading)

    /// The moment at which the connection's timer fires; `never` if the timer is not set.
    var timerMoment = Moment.never

    var received = 0
    var sent = 0

    init(_ socket: consuming StreamSocket, _ options: Connection.Options) {
        self.options = options
        machine = ConnectionMachine(isConnected: socket.descriptor >= 0)
        self.socket = socket
    }

    // These members access the machine without a copy, which the compiler would otherwise make.

    /// Returns the machine's next step, and records that it is taken.
    mutating func nextStep() -> ConnectionMachine.Step? { machine.nextStep(hasUnsent: hasUnsent) }

    /// True if the connection should receive bytes.
    func wantsInput(hasReceiver: Bool) -> Bool { machine.wantsInput(hasReceiver: hasReceiver) }

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
