internal import RunLoops

/// The part of a connection that changes with each byte: its state, its socket, its bytes, its deadlines.
struct ConnectionState: ~Copyable {
    var machine: ConnectionMachine
    var socket: StreamSocket
    var input = InputBuffer()
    var output = OutputQueue()
    var deadlines = ConnectionDeadlines(at: .now())

    /// Cuts the input into frames; nil if it is given as it comes.
    var scanner: FrameScanner?

    /// The kernel has taken no more at the last try, and will report when it does.
    var isBlocked = false
    /// The unsent bytes have exceeded the high-water mark, and have not fallen to half of it since.
    var isAboveMark = false
    /// Asked to be served in a run inside one of its handlers.
    var wasAsked = false
    /// The number of times that the receiver was set.
    var receiverVersion = 0
    /// In the list of connections to be settled at the end of the pass.
    var isUnsettled = false

    var handlers = Connection.Handlers()
    var places = MemberPlaces(.reading)

    /// The moment that the connection's timer is set for.
    var timerMoment = Moment.never

    var received = 0
    var sent = 0

    init(_ socket: consuming StreamSocket) {
        machine = ConnectionMachine(isConnected: socket.descriptor >= 0)
        self.socket = socket
    }

    /// The earliest deadline.
    func nextDeadline(_ options: Connection.Options) -> (moment: Moment, cause: ConnectionDeadlines.Cause)? {
        deadlines.next(machine, options)
    }

    /// Sends what was written, as much as one call sends.
    mutating func send() -> StreamSocket.Sent { socket.send(&output) }
}
