internal import RunLoops

extension MessagePort {
    /// The limits of what a port accepts from other processes, and its time-outs.
    ///
    /// ```swift
    /// var options = MessagePort.Options()
    /// options.messageByteLimit = 4_096
    /// options.connectionLimit = 16
    /// ```
    ///
    /// > Thread safety: a value.
    public struct Options: Hashable, Sendable {
        /// The largest number of bytes of a message.
        ///
        /// A ``RemotePort`` learns this limit when it connects, and refuses to send a larger message. The upper bound is the size
        /// of one packet, some 200,000 bytes unless the system allows more.
        public var messageByteLimit = 65_536

        /// The largest number of descriptors of a message, up to 253.
        public var descriptorLimit = 32

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
        public var untakenDescriptorLimit = 64

        /// The largest number of open connections.
        ///
        /// Further connections wait in the kernel, and are accepted when other connections have ended. Each connection needs a
        /// descriptor, so the only upper bound is the process's soft limit of open descriptors, often 1,024. For a server with more
        /// peers, raise that soft limit and this limit.
        public var connectionLimit = 256

        /// The largest number of open connections of one process.
        ///
        /// Further connections are refused with ``MessagePortError/Reason/tooManyConnections``, so that a process that keeps
        /// opening connections does not keep out others. One connection is enough for all threads and tasks of a process. If this
        /// is not less than ``connectionLimit``, one process can have all connections.
        public var connectionLimitPerProcess = 64

        /// The largest number of open connections of one user, counted over all processes of that user.
        ///
        /// The limit applies to each user except the user of the port's process, so it matters only to a port that admits other
        /// users. A user can have any number of processes, so ``connectionLimitPerProcess`` alone would let one user take all
        /// connections.
        public var connectionLimitPerUser = 128

        /// The time within which a new connection must send its first packet, the greeting.
        ///
        /// A ``RemotePort`` sends its greeting as soon as it connects. A connection that sends no greeting in time is closed, so
        /// that it does not keep out other connections.
        public var greetingTimeout = Duration.seconds(5)

        /// The largest number of bytes of replies that the port keeps for a requester that does not read them.
        ///
        /// If more bytes wait, the requester's connection is closed.
        public var keptReplyByteLimit = 1_048_576

        /// The largest number of messages that the port keeps for a peer that has no room for them, at least 1.
        ///
        /// At the limit, ``MessagePort/trySend(_:id:descriptors:to:)-([UInt8],_,_,_)`` returns false. In addition, the kernel keeps
        /// about 200,000 bytes, or a few hundred small messages.
        public var keptMessageLimit = 1_024

        /// The largest number of bytes of messages that the port keeps for a peer that has no room for them.
        ///
        /// Each message counts as its length plus 128 bytes, and each of its descriptors as 128 bytes more. One message is always
        /// kept, however long it is.
        public var keptMessageByteLimit = 1_048_576

        /// Makes the default limits, which suit most ports.
        public init() {}

        /// Ends the program if a limit is out of its range.
        func check() {
            if messageByteLimit < 0 || messageByteLimit > Int(Int32.max) {
                misuse(
                    "MessagePort.Options.messageByteLimit: \(messageByteLimit) is not the size of a message; use 0 to \(Int32.max)"
                )
            }
            if !(0...PacketSocket.mostDescriptors).contains(descriptorLimit) {
                misuse(
                    "MessagePort.Options.descriptorLimit: \(descriptorLimit) is not between 0 and \(PacketSocket.mostDescriptors), the most that one packet carries"
                )
            }
            if untakenDescriptorLimit < 1 {
                misuse(
                    "MessagePort.Options.untakenDescriptorLimit: \(untakenDescriptorLimit) lets no descriptor in; use at least 1, and descriptorLimit = 0 to keep them out"
                )
            }
            if connectionLimit < 1 {
                misuse(
                    "MessagePort.Options.connectionLimit: \(connectionLimit) lets no process in; use at least 1"
                )
            }
            if connectionLimitPerProcess < 1 {
                misuse(
                    "MessagePort.Options.connectionLimitPerProcess: \(connectionLimitPerProcess) lets no process in; use at least 1"
                )
            }
            if connectionLimitPerUser < 1 {
                misuse(
                    "MessagePort.Options.connectionLimitPerUser: \(connectionLimitPerUser) lets no other user in; use at least 1, and the filter to keep other users out"
                )
            }
            if greetingTimeout <= .zero {
                misuse(
                    "MessagePort.Options.greetingTimeout: \(greetingTimeout) leaves no time to greet; use some seconds"
                )
            }
            if keptReplyByteLimit < 0 {
                misuse(
                    "MessagePort.Options.keptReplyByteLimit: \(keptReplyByteLimit) is negative; use 0 to keep none"
                )
            }
            if keptMessageLimit < 1 {
                misuse(
                    "MessagePort.Options.keptMessageLimit: \(keptMessageLimit) keeps no message; use at least 1"
                )
            }
            if keptMessageByteLimit < 0 {
                misuse(
                    "MessagePort.Options.keptMessageByteLimit: \(keptMessageByteLimit) is negative; use 0 to keep one message at a time"
                )
            }
        }

        /// The limits that the port sends to its peers.
        var advertised: Frame.Limits {
            Frame.Limits(bodyLength: UInt32(messageByteLimit), descriptorCount: UInt32(descriptorLimit))
        }
    }
}
