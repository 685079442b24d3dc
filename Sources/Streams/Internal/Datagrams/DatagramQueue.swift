internal import CRunLoops
internal import DequeModule
internal import Glibc
internal import RunLoops

/// The datagrams that the kernel has not accepted yet, and what is to be told about earlier ones.
struct DatagramQueue {
    /// The addresses and bytes of the datagrams, one after the other.
    private var store: [UInt8] = []
    private var list: [runloops_outgoing] = []
    /// The number of datagrams at the beginning of the list that were accepted.
    private var first = 0
    /// The number of bytes of the datagrams that were not accepted, without their addresses.
    private var byteCount = 0

    /// True if the kernel accepts nothing until it reports that the socket is writable.
    var isBlocked = false
    var room = Room.there
    /// True if the first datagram was refused with an error that can be that of an earlier datagram.
    var hasOfferedAgain = false
    /// The errors that the handler is to be told.
    var undelivered = Deque<(error: SystemError, receiver: SocketAddress?)>()

    /// Whether the handler of room is to be called.
    enum Room {
        /// No datagram was refused since the last call.
        case there
        /// A datagram was refused, because there was no room.
        case awaited
        /// There is room again, and the handler is to be called.
        case untold
    }

    /// The maximum number of errors that wait for the handler.
    static var mostErrors: Int { 64 }

    /// The capacity in bytes above which an empty queue frees its memory.
    private static var keptCapacity: Int { 65_536 }

    var count: Int { list.count - first }

    var isEmpty: Bool { count == 0 }

    /// True if a handler is to be called.
    var owesCall: Bool { room == .untold || !undelivered.isEmpty }

    /// True if the limits allow one more datagram.
    func hasRoom(for bytes: Int, _ options: DatagramSocket.Options) -> Bool {
        if isEmpty && options.unsentLimit > 0 { return true }
        return count < options.unsentLimit && bytes <= options.outputLimit - byteCount
    }

    /// True if half of the limits is free.
    func isHalfFree(_ options: DatagramSocket.Options) -> Bool {
        count <= options.unsentLimit / 2 && byteCount <= options.outputLimit / 2
    }

    mutating func append(_ bytes: RawSpan, _ receiver: SocketAddress?) {
        if first > 0 && first >= list.count / 2 { removeAccepted() }
        let start = store.count
        // Safe: the bytes are copied while they exist.
        if let receiver { unsafe receiver.withUnsafeBytes { unsafe store.append(contentsOf: $0) } }
        list.append(
            runloops_outgoing(
                start: start, address_length: store.count - start, count: bytes.byteCount))
        // Safe: the bytes are copied while the span lives.
        unsafe bytes.withUnsafeBytes { unsafe store.append(contentsOf: $0) }
        byteCount += bytes.byteCount
    }

    /// Moves the datagrams that are left to the beginning of the memory.
    private mutating func removeAccepted() {
        let start = first < list.count ? list[first].start : store.count
        store.removeSubrange(..<start)
        list.removeSubrange(..<first)
        for index in list.indices { list[index].start -= start }
        first = 0
    }

    /// Offers datagrams to the kernel.
    ///
    /// - Returns: The number of datagrams that the kernel has accepted, and if there are none, the error.
    mutating func send(_ descriptor: CInt) -> (sent: Int, code: CInt) {
        // Safe: the places in the list are those of the datagrams in the store.
        let result = unsafe list.withUnsafeBufferPointer { list in
            unsafe runloops_send_datagrams(
                descriptor, store, list.baseAddress.map { unsafe $0 + first }, CInt(min(count, 1024)))
        }
        if result < 0 { return (0, errno) }
        for _ in 0..<result { removeFirst() }
        return (Int(result), 0)
    }

    /// Removes the first datagram, and returns the address of its receiver; nil for the peer of a connected socket.
    mutating func discardFirst() -> SocketAddress? {
        let place = list[first]
        let address = store[place.start..<place.start + place.address_length]
        removeFirst()
        return address.isEmpty ? nil : SocketAddress(kernel: Array(address))
    }

    private mutating func removeFirst() {
        byteCount -= list[first].count
        first += 1
        hasOfferedAgain = false
        if first < list.count { return }
        store.removeAll(keepingCapacity: store.capacity <= DatagramQueue.keptCapacity)
        list.removeAll(keepingCapacity: list.capacity <= 1024)
        first = 0
    }

    /// Records an error for the handler; an error beyond the maximum is dropped.
    mutating func note(_ error: SystemError, _ receiver: SocketAddress?) {
        if undelivered.count < DatagramQueue.mostErrors { undelivered.append((error, receiver)) }
    }
}
