internal import CRunLoops
internal import Glibc

/// The memory into which a socket receives several datagrams at once, and those that were not handled yet.
///
/// A socket holds an inbox only while datagrams wait in it. All sockets of a loop share the inbox that is left.
///
/// `@safe`: the memory belongs to the inbox from `init` to `deinit`, and only the loop's thread uses it.
///
/// > Thread safety: the loop's own thread only.
@safe
final class DatagramInbox {
    private let store: OpaquePointer
    /// The maximum number of bytes of a datagram for which there is memory.
    let byteLimit: Int
    private var count = 0
    private var next = 0

    init(byteLimit: Int) {
        guard let store = unsafe runloops_make_inbox(byteLimit) else {
            fatalError("DatagramSocket: out of memory for datagrams of \(byteLimit) bytes")
        }
        unsafe self.store = store
        self.byteLimit = byteLimit
    }

    deinit { unsafe runloops_free_inbox(store) }

    /// True if every datagram was taken.
    var isEmpty: Bool { next == count }

    /// True if the call that has received the datagrams has found as many as it can, and more may wait.
    var wasFilled: Bool { count == runloops_most_datagrams }

    /// Receives datagrams, in place of those before.
    ///
    /// - Returns: The error, `EAGAIN` if nothing has arrived, or 0.
    func receive(from descriptor: CInt, upTo limit: Int) -> CInt {
        next = 0
        count = 0
        let result = unsafe runloops_receive_datagrams(descriptor, store, limit)
        if result < 0 { return errno }
        count = Int(result)
        return 0
    }

    /// Takes the next datagram, which is valid until the inbox receives again, or is released.
    func takeNext() -> ReceivedDatagram {
        precondition(!isEmpty, "a datagram waits")
        defer { next += 1 }
        return unsafe ReceivedDatagram(runloops_datagram_at(store, CInt(next)))
    }
}

/// A datagram in an inbox.
///
/// `@safe`: who takes the value holds the inbox with the memory, and uses the value only until the inbox receives again.
@safe
struct ReceivedDatagram {
    private let place: runloops_datagram

    init(_ place: runloops_datagram) { unsafe self.place = place }

    /// True if the datagram was longer than the limit.
    var isCut: Bool { unsafe place.is_cut }

    func withBytes<Result>(_ body: (RawSpan) -> Result) -> Result {
        // Safe: the memory exists as long as the inbox.
        let bytes = unsafe UnsafeRawBufferPointer(start: place.bytes, count: place.count)
        return body(unsafe bytes.bytes)
    }

    /// The address of the sender.
    var sender: SocketAddress {
        // Safe: the memory exists as long as the inbox.
        let address = unsafe UnsafeRawBufferPointer(start: place.address, count: Int(place.address_length))
        // The address of a Unix socket that is not bound is empty here. Elsewhere, it is only a family.
        return unsafe address.isEmpty ? ReceivedDatagram.unnamed : SocketAddress(kernel: address)
    }

    private static let unnamed = SocketAddress(kernel: [UInt8(AF_UNIX), 0])
}

/// The receiving side of a socket.
struct DatagramInput {
    /// The inbox with datagrams that wait for the receiver; nil if none wait.
    var inbox: DatagramInbox?
    var isPaused = false
    /// The number of times that the receiver was set.
    var receiverVersion = 0
    /// True if the loop is told when datagrams arrive.
    var isWatched = false
    /// True while the handler is called with a datagram that was longer than the limit.
    var isCut = false
    /// An error of a sent datagram that a call has returned, or 0 if the kernel can have queued errors; nil if there is none.
    var expectedError: CInt?
    /// The number of calls in a row that have failed.
    var failuresInARow = 0

    /// Records that the kernel can have queued errors of sent datagrams.
    ///
    /// - Parameter code: The error that a call has returned, or 0.
    mutating func expectsErrors(_ code: CInt = 0) {
        if code != 0 || expectedError == nil { expectedError = code }
    }

    /// True if the receiver is still the one that it was, and takes datagrams.
    func goesOn(_ version: Int) -> Bool { !isPaused && receiverVersion == version }

    var holdsDatagrams: Bool { inbox.map { !$0.isEmpty } ?? false }
}
