#if NIO
    internal import DequeModule
    internal import NIOCore

    /// What a channel of datagrams has received, and wants to.
    struct DatagramInput {
        var isAutomatic = true
        /// True if datagrams were asked for, and none were delivered since.
        var isWanted = false
        /// The maximum number of datagrams before the handlers are told that a read is complete.
        var mostDatagrams: UInt = 4
        /// Datagrams that the handlers have not seen.
        var arrivals = Deque<AddressedEnvelope<ByteBuffer>>()
        /// Errors of datagrams that were sent, which the handlers have not seen.
        var failures = Deque<IOError>()

        /// The number of datagrams that wait for the handlers before the socket pauses: as many as the socket takes from the kernel at
        /// once.
        static var mostWaiting: Int { 32 }

        /// Keeps an error for the handlers; one beyond the socket's own maximum is dropped.
        mutating func note(_ error: IOError) { if failures.count < 64 { failures.append(error) } }

        mutating func end() {
            arrivals = []
            failures = []
            isWanted = false
        }
    }
#endif
