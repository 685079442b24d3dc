internal import CFaults
internal import Glibc
internal import RunLoops

/// A point in the next `write` of a thread, where the thread blocks until a test releases it.
public struct HeldWrite: Sendable {
    private let reached: (near: CInt, far: CInt)
    private let released: (near: CInt, far: CInt)

    /// Makes a point that no thread has reached.
    ///
    /// The descriptors of the point stay open until the process ends.
    ///
    /// - Throws: `SystemError` if there are no descriptors.
    public init() throws { (reached, released) = (try HeldWrite.pipe(), try HeldWrite.pipe()) }

    /// Blocks the next `write` of the calling thread at this point, even if a signal handler makes the call.
    public func beginHere() { faults_hold_write(reached.far, released.near) }

    /// Waits until the thread has reached the point.
    public func waitUntilReached() {
        var byte: UInt8 = 0
        // Safe: the kernel writes at most one byte to a local variable.
        while unsafe read(reached.near, &byte, 1) != 1 {}
    }

    /// Lets the thread continue.
    public func release() {
        var byte: UInt8 = 0
        // Safe: the kernel only reads a local variable of one byte.
        while unsafe write(released.far, &byte, 1) != 1 {}
    }

    /// Makes a pipe with blocking ends, at which a thread waits.
    private static func pipe() throws -> (near: CInt, far: CInt) {
        var ends: [CInt] = [0, 0]
        // Safe: the kernel fills an array of two elements.
        if unsafe Glibc.pipe(&ends) != 0 { throw SystemError(call: "pipe", code: errno) }
        return (ends[0], ends[1])
    }
}
