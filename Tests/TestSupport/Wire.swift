internal import Glibc
internal import RunLoops

/// Two connected descriptors, both non-blocking.
///
/// A test closes them explicitly at its end, because the object can be destroyed after its last use.
public final class Wire: Sendable {
    /// The end that a test watches, which is the reading end of a pipe.
    public let near: CInt

    /// The other end, which is the writing end of a pipe.
    public let far: CInt

    /// The descriptors that are still to be closed.
    private let open: Locked<[CInt]>

    private init(near: CInt, far: CInt) {
        self.near = near
        self.far = far
        open = Locked([near, far])
    }

    /// Makes a pipe.
    ///
    /// - Returns: The two ends.
    /// - Throws: `SystemError` if no descriptor is left.
    public static func pipe() throws -> Wire {
        var ends: [CInt] = [0, 0]
        // Safe, here and below: the kernel fills an array of two elements.
        if unsafe Glibc.pipe(&ends) != 0 { throw SystemError(call: "pipe", code: errno) }
        for end in ends {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        return Wire(near: ends[0], far: ends[1])
    }

    /// Makes a pair of connected stream sockets.
    ///
    /// - Returns: The two sockets.
    /// - Throws: `SystemError` if no descriptor is left.
    public static func sockets() throws -> Wire {
        var ends: [CInt] = [0, 0]
        let type = CInt(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
        if unsafe socketpair(AF_UNIX, type, 0, &ends) != 0 {
            throw SystemError(call: "socketpair", code: errno)
        }
        return Wire(near: ends[0], far: ends[1])
    }

    /// Writes bytes at the far end.
    ///
    /// - Parameter count: The number of bytes.
    /// - Returns: The number of written bytes.
    @discardableResult
    public func send(_ count: Int = 1) -> Int { Wire.write(count, to: far) }

    /// Writes at the near end of a pair of sockets until it is full.
    public func fill() { while Wire.write(4_096, to: near) > 0 {} }

    /// Reads at the near end until it is empty.
    ///
    /// - Returns: The number of bytes.
    @discardableResult
    public func drain() -> Int { Wire.drain(near) }

    /// Reads at the far end until it is empty.
    ///
    /// - Returns: The number of bytes.
    @discardableResult
    public func drainFar() -> Int { Wire.drain(far) }

    /// True if the far end reads the end of the stream, because no process has the near end open.
    ///
    /// - Returns: True if the near end is closed.
    public func isNearClosed() -> Bool {
        var byte: UInt8 = 0
        // Safe: the kernel writes at most one byte to a local variable.
        return unsafe read(far, &byte, 1) == 0
    }

    /// Waits until no process has the near end open.
    ///
    /// A child that another test has just started also has the end open, until the child calls exec.
    ///
    /// - Returns: False if a process keeps the end open.
    public func nearCloses() -> Bool { Wire.comes { isNearClosed() } }

    /// Waits until no process has the other end of a descriptor open.
    ///
    /// - Parameter descriptor: One of the two ends.
    /// - Returns: False if a process keeps the other end open.
    public static func otherEndCloses(of descriptor: CInt) -> Bool {
        comes {
            var entry = pollfd(fd: descriptor, events: 0, revents: 0)
            // Safe: the kernel reads and fills a local variable.
            return unsafe poll(&entry, 1, 0) == 1 && CInt(entry.revents) & CInt(POLLHUP | POLLERR) != 0
        }
    }

    private static func comes(_ holds: () -> Bool) -> Bool {
        let end = ContinuousClock.Instant.hang
        while !holds() {
            if ContinuousClock.now > end { return false }
            sched_yield()
        }
        return true
    }

    /// Closes one end, or both.
    ///
    /// - Parameter descriptor: The end, or nil for both. An end that is already closed stays closed.
    public func close(_ descriptor: CInt? = nil) {
        open.withLock { open in
            for end in open where descriptor ?? end == end { Glibc.close(end) }
            open.removeAll { descriptor ?? $0 == $0 }
        }
    }

    /// Returns the near end, which the caller must close.
    ///
    /// - Returns: The near end.
    public func giveAwayNear() -> CInt {
        open.withLock { open in open.removeAll { $0 == near } }
        return near
    }

    private static func write(_ count: Int, to descriptor: CInt) -> Int {
        let bytes = [UInt8](repeating: 1, count: count)
        // Safe: the kernel only reads a local array.
        return unsafe Glibc.write(descriptor, bytes, count)
    }

    private static func drain(_ descriptor: CInt) -> Int {
        var bytes = [UInt8](repeating: 0, count: 4_096)
        var total = 0
        while true {
            // Safe: the kernel writes at most the length of the array.
            let count = unsafe read(descriptor, &bytes, bytes.count)
            if count <= 0 { return total }
            total += count
        }
    }
}
