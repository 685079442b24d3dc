internal import Glibc
internal import RunLoops

/// A thread that has no run loop until its body asks for one.
public struct BareThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread.
    ///
    /// - Parameter body: The closure that the thread runs.
    /// - Throws: `SystemError` if the thread cannot be made.
    public init(_ body: @escaping @Sendable () -> Void) throws {
        var handle = pthread_t()
        // Safe: the new thread takes the reference back, or this function does if no thread was made.
        let box = unsafe Unmanaged.passRetained(Body(body))
        let code = unsafe pthread_create(&handle, nil, bareThreadMain, box.toOpaque())
        if code != 0 {
            unsafe box.release()
            throw SystemError(call: "pthread_create", code: code)
        }
        self.handle = handle
    }

    /// Waits until the thread has ended and its thread-specific data are destroyed; called once.
    public func join() { pthread_join(handle, nil) }
}

private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func bareThreadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    // Safe: the function takes back the reference of `init`.
    unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
