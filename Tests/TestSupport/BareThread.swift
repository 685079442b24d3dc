internal import Glibc
internal import RunLoops

/// A thread that knows nothing of run loops until its body asks for one.
public struct BareThread: Sendable {
    private let handle: pthread_t

    /// Starts a thread.
    ///
    /// - Parameter body: The closure that it runs.
    /// - Throws: `SystemError` if there is no thread.
    public init(_ body: @escaping @Sendable () -> Void) throws {
        var handle = pthread_t()
        // Safe: the new thread takes the reference back, or we do if there is no thread.
        let box = unsafe Unmanaged.passRetained(Body(body))
        let code = unsafe pthread_create(&handle, nil, bareThreadMain, box.toOpaque())
        if code != 0 {
            unsafe box.release()
            throw SystemError(call: "pthread_create", code: code)
        }
        self.handle = handle
    }

    /// Waits until the thread has ended, and with it what it keeps for itself; once.
    public func join() { pthread_join(handle, nil) }
}

private final class Body: Sendable {
    let run: @Sendable () -> Void
    init(_ run: @escaping @Sendable () -> Void) { self.run = run }
}

private func bareThreadMain(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
    guard let argument = unsafe argument else { return nil }
    // Safe: takes back the reference of `init`.
    unsafe Unmanaged<Body>.fromOpaque(argument).takeRetainedValue().run()
    return nil
}
