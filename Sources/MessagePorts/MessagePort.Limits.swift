internal import RunLoops

extension MessagePort {
    /// The limits of what a port accepts from other processes.
    ///
    /// ```swift
    /// var limits = MessagePort.Limits()
    /// limits.body = 4_096
    /// limits.connections = 16
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Limits: Hashable, Sendable {
        /// The largest number of bytes of a message.
        ///
        /// A ``RemotePort`` learns this limit when it connects, and refuses to send a larger message. The upper bound is the size
        /// of one packet, some 200,000 bytes unless the system allows more.
        public var body = 65_536

        /// The largest number of descriptors of a message, up to 253.
        public var descriptors = 32

        /// The limit on the untaken descriptors of one connection.
        ///
        /// A descriptor is untaken until the program takes it out of its message. A discarded descriptor counts as untaken until it
        /// is closed, and a hostile sender can make closing it slow.
        ///
        /// When a connection has reached the limit, the port receives no more descriptors from it. The port still reads packets
        /// without descriptors. But a packet that carries descriptors is not read until there is room, and neither is any later
        /// packet of that sender. Raise this limit if your program keeps many messages with their descriptors.
        ///
        /// There are further bounds for all connections of one peer process, for all connections of one other user, and for all
        /// connections of this process together: <doc:UntrustedPeers>.
        public var untakenDescriptors = 64

        /// The largest number of open connections.
        ///
        /// Further connections wait in the kernel, and are accepted when other connections have ended. Each connection needs a
        /// descriptor, so the only upper bound is the process's soft limit of open descriptors, often 1,024. For a server with more
        /// peers, raise that soft limit and this limit.
        public var connections = 256

        /// The largest number of open connections of one process.
        ///
        /// Further connections are refused with ``MessagePortError/tooManyConnections``, so that a process that keeps opening
        /// connections does not keep out others. One connection is enough for all threads and tasks of a process. If this is not
        /// less than ``connections``, one process can have all connections.
        public var connectionsPerProcess = 64

        /// The largest number of open connections of one user, counted over all processes of that user.
        ///
        /// The limit applies to each user except the user of the port's process, so it matters only to a port that admits other
        /// users. A user can have any number of processes, so ``connectionsPerProcess`` alone would let one user take all
        /// connections.
        public var connectionsPerUser = 128

        /// The time within which a new connection must send its first packet, the greeting.
        ///
        /// A ``RemotePort`` sends its greeting as soon as it connects. A connection that sends no greeting in time is closed, so
        /// that it does not keep out other connections.
        public var greeting = Duration.seconds(5)

        /// The largest number of bytes of replies that the port keeps for a requester that does not read them.
        ///
        /// If more bytes wait, the requester's connection is closed.
        public var keptReplies = 1_048_576

        /// The largest number of messages that the port keeps for a peer that has no room for them, at least 1.
        ///
        /// At the limit, ``MessagePort/send(_:id:descriptors:to:)-([UInt8],_,_,_)`` returns false. In addition, the kernel keeps
        /// about 200,000 bytes, or a few hundred small messages.
        public var keptMessages = 1_024

        /// The largest number of bytes of messages that the port keeps for a peer that has no room for them.
        ///
        /// Each message counts as its length plus 128 bytes, and each of its descriptors as 128 bytes more. One message is always
        /// kept, however long it is.
        public var keptMessageBytes = 1_048_576

        /// Makes the default limits, which suit most ports.
        public init() {}

        /// Ends the program if a limit is out of its range.
        func check() {
            if body < 0 || body > Int(Int32.max) {
                misuse("MessagePort.Limits.body: \(body) is not the size of a message; use 0 to \(Int32.max)")
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
                misuse("MessagePort.Limits.connections: \(connections) lets no process in; use at least 1")
            }
            if connectionsPerProcess < 1 {
                misuse(
                    "MessagePort.Limits.connectionsPerProcess: \(connectionsPerProcess) lets no process in; use at least 1"
                )
            }
            if connectionsPerUser < 1 {
                misuse(
                    "MessagePort.Limits.connectionsPerUser: \(connectionsPerUser) lets no other user in; use at least 1, and the filter to keep other users out"
                )
            }
            if greeting <= .zero {
                misuse("MessagePort.Limits.greeting: \(greeting) leaves no time to greet; use some seconds")
            }
            if keptReplies < 0 {
                misuse("MessagePort.Limits.keptReplies: \(keptReplies) is negative; use 0 to keep none")
            }
            if keptMessages < 1 {
                misuse("MessagePort.Limits.keptMessages: \(keptMessages) keeps no message; use at least 1")
            }
            if keptMessageBytes < 0 {
                misuse(
                    "MessagePort.Limits.keptMessageBytes: \(keptMessageBytes) is negative; use 0 to keep one message at a time"
                )
            }
        }

        /// The limits that the port sends to its peers.
        var advertised: Frame.Limits {
            Frame.Limits(bodyLength: UInt32(body), descriptorCount: UInt32(descriptors))
        }
    }
}
