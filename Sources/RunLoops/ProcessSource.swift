/// Calls a handler on its loop's thread when a process has ended, with its exit status if it was a child.
///
/// A child's status is taken from the kernel, once, just before the handler is called; no other code may wait for that child.
/// Signals are not used: `SIGCHLD` stays with whoever has it, and other children with whoever waits for them.
///
/// ```swift
/// let source = try ProcessSource(child) { source, ending in
///     print("process", source.processID, ending)
/// }
/// try RunLoop.current.add(source, forMode: .default)
/// ```
///
/// A process that has already ended can still be given, as long as nobody has waited for it. The handler is called once,
/// and the source is invalid then.
///
/// > Thread safety: one thread: once it is added, its loop's.
public final class ProcessSource {
    /// The process's number.
    ///
    /// Of a child it is nobody else's until the handler is called.
    public let processID: CInt

    /// False once the handler has been called, or it was invalidated, for good.
    public private(set) var isValid = true

    /// In a loop for it.
    var watch: DescriptorSource?
    private var process: ProcessDescriptor?
    private var handler: ((ProcessSource, Ending) -> Void)?
    let origin: SourceLocation

    /// Makes a source, which is in no loop yet but has hold of the process.
    ///
    /// - Parameters:
    ///   - processID: The process's number: what `fork` or `posix_spawn` has given.
    ///   - fileID: Where it was made, for diagnostics.
    ///   - line: Where it was made, for diagnostics.
    ///   - handler: Called on the loop's thread with the source and how the process has ended.
    /// - Throws: ``SystemError``: there is no such process, or somebody has waited for it (`ESRCH`); or the kernel has no
    ///   descriptor left.
    public init(
        _ processID: CInt, fileID: StaticString = #fileID, line: Int = #line,
        handler: @escaping (ProcessSource, Ending) -> Void
    ) throws(SystemError) {
        if processID <= 0 {
            misuse(
                "ProcessSource.init: \(processID) is no process's number; look at what fork or posix_spawn answers before"
            )
        }
        self.processID = processID
        origin = SourceLocation(fileID, line)
        do {
            process = try ProcessDescriptor(processID)
        } catch { throw error.about(.process(processID, SourceLocation(fileID, line))) }
        self.handler = handler
    }

    /// Takes the source out of its loop for good, and lets go of its handler.
    ///
    /// The handler does not start afterwards. A child is left to the program to wait for. Again is harmless.
    public func invalidate() {
        _ = watch?.membership.loop?.requireCurrent("ProcessSource.invalidate")
        isValid = false
        let ended = watch
        watch = nil
        ended?.invalidate()
        process = nil
        let released = handler
        handler = nil
        // What the handler holds may be the user's, and may come back here while it is destroyed: when all is in order.
        withExtendedLifetime(released) {}
    }

    private func serve() -> Bool {
        guard let handler, let ending = process?.takeEnding() else { return false }
        invalidate()
        handler(self, ending)
        return true
    }
}

extension ProcessSource: DescriptorBacked {
    func makeWatch() -> DescriptorSource {
        guard let descriptor = process?.descriptor else {
            preconditionFailure("a valid source has its process")
        }
        return DescriptorSource(descriptor, interest: .read, origin: origin) { [self] _, _ in serve() }
    }
}

@available(*, unavailable)
extension ProcessSource: Sendable {}

extension ProcessSource: CustomStringConvertible {
    /// Which process it is the source of, and where it was made.
    public var description: String { "source of process \(processID) made at \(origin)" }
}
