internal import RunLoops

extension MessagePort {
    /// What a port takes from other processes.
    ///
    /// ```swift
    /// var limits = MessagePort.Limits()
    /// limits.body = 4_096
    /// limits.connections = 16
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Limits: Hashable, Sendable {
        /// How many bytes a message may have.
        ///
        /// A sender is told when it connects, and what is larger does not leave it. What one packet has room for is the most,
        /// some 200,000 bytes where the system is not set up for more.
        public var body = 65_536

        /// How many descriptors a message may carry; 253 is the most.
        public var descriptors = 32

        /// The number of descriptors of one connection that are neither taken nor closed, from which on the port receives no
        /// more of that connection.
        ///
        /// A descriptor is taken when the program takes it out of its message. One that is discarded counts until it is
        /// closed, which its sender may have made slow. A packet that carries descriptors then waits to be read, and all that
        /// its sender sends after it; packets without descriptors are read. A program that keeps many messages with their
        /// descriptors raises this limit. All connections of a process, or of another user, have a bound together, and so have
        /// all of this process: <doc:PortsBetweenProcesses> tells them.
        public var untakenDescriptors = 64

        /// How many connections there may be at once.
        ///
        /// Those that come then are admitted when others have gone; meanwhile they wait to connect.
        public var connections = 256

        /// How many connections one process may have at once.
        ///
        /// More are refused, with ``MessagePortError/tooManyConnections``, so that a process which opens them without end
        /// keeps out nobody else. One is enough for all threads and tasks of a process. If this is not less than
        /// ``connections``, one process may have them all.
        public var connectionsPerProcess = 64

        /// How many connections the processes of one user may have together, if it is another user than the port's.
        ///
        /// A user may have any number of processes, so this is what keeps some for the others. It matters to ports that admit
        /// other users.
        public var connectionsPerUser = 128

        /// How long a new connection may take to say what it is.
        ///
        /// A ``RemotePort`` does so at once. What is silent for longer is closed, so that it keeps out nobody else.
        public var greeting = Duration.seconds(5)

        /// How many bytes of replies are kept for a requester that does not read them.
        ///
        /// With more, its connection is closed.
        public var keptReplies = 1_048_576

        /// Makes the limits that are good for most ports.
        public init() {}

        /// Ends the program if they make no sense.
        func check() {
            if body < 0 || body > Int(Int32.max) {
                misuse("MessagePort.Limits.body: \(body) is no size of a message; use 0 to \(Int32.max)")
            }
            if !(0...PacketSocket.mostDescriptors).contains(descriptors) {
                misuse(
                    "MessagePort.Limits.descriptors: \(descriptors) is not between 0 and \(PacketSocket.mostDescriptors), the most that one packet carries"
                )
            }
            if untakenDescriptors < 1 {
                misuse(
                    "MessagePort.Limits.untakenDescriptors: \(untakenDescriptors) lets no descriptor in; use at least 1, and descriptors = 0 to keep them out"
                )
            }
            if connections < 1 {
                misuse("MessagePort.Limits.connections: \(connections) lets nobody in; use at least 1")
            }
            if connectionsPerProcess < 1 {
                misuse(
                    "MessagePort.Limits.connectionsPerProcess: \(connectionsPerProcess) lets nobody in; use at least 1"
                )
            }
            if connectionsPerUser < 1 {
                misuse(
                    "MessagePort.Limits.connectionsPerUser: \(connectionsPerUser) lets no other user in; use at least 1, and the filter to keep other users out"
                )
            }
            if greeting <= .zero {
                misuse("MessagePort.Limits.greeting: \(greeting) leaves nobody time; use some seconds")
            }
            if keptReplies < 0 {
                misuse("MessagePort.Limits.keptReplies: \(keptReplies) is negative; use 0 to keep none")
            }
        }

        /// What the other end is told.
        var advertised: Frame.Limits {
            Frame.Limits(bodyLength: UInt32(body), descriptorCount: UInt32(descriptors))
        }
    }
}
