/// Calls a handler on its loop's thread when a process has ended, and passes it the exit status of a child.
///
/// The source takes a child's status from the kernel once, just before it calls the handler. No other code may wait for that child.
/// The source uses no signals: it takes neither `SIGCHLD` from other code, nor the status of other children.
///
/// ```swift
/// let source = try ProcessSource(child) { source, ending in
///     print("process", source.processID, ending)
/// }
/// try RunLoop.current.add(source, forMode: .default)
/// ```
///
/// You can also make a source for a process that has ended already, if no code has waited for the process yet. The handler is
/// called once, and the source is invalid from then on.
///
/// > Thread safety: ``invalidate()`` and ``isValid`` from any thread (<doc:Ends>). All other members from one thread; after the
/// > source is added, from the thread of its loop.
public final class ProcessSource {
    /// The process ID.
    ///
    /// The kernel does not reuse the ID of a child before the handler is called.
    public let processID: CInt

    /// True until the handler is called or the source is invalidated.
    ///
    /// > Thread safety: any thread.
    public var isValid: Bool { !end.hasEnded }
    package let end = InputEnd()

    /// The descriptor source that represents this source in a loop.
    var watch: DescriptorSource?
    fileprivate var process: ProcessDescriptor?
    fileprivate var handler: ((ProcessSource, Ending) -> Void)?
    let origin: SourceLocation

    /// Makes a source that is in no loop yet, and opens a descriptor of the process.
    ///
    /// - Parameters:
    ///   - processID: The process ID, as `fork` or `posix_spawn` has returned it.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread with the source and the way in which the process has ended.
    /// - Throws: ``SystemError`` if there is no such process or other code has waited for it (`ESRCH`), or if the kernel has no
    ///   descriptor left.
    public init(
        _ processID: CInt, fileID: StaticString = #fileID, line: Int = #line,
        handler: @escaping (ProcessSource, Ending) -> Void
    ) throws(SystemError) {
        if processID <= 0 {
            misuse(
                "ProcessSource.init: \(processID) is not a process ID; check the result of fork or posix_spawn first"
            )
        }
        self.processID = processID
        origin = SourceLocation(fileID, line)
        do {
            process = try ProcessDescriptor(processID)
        } catch {
            throw error.about("source of process \(processID) made at \(SourceLocation(fileID, line))")
        }
        self.handler = handler
    }

    /// Removes the source from its loop for good, and releases its handler.
    ///
    /// The handler does not start afterwards. If the process is a child, your program has to wait for the process itself, for
    /// example with `waitpid`. A second call does nothing.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func invalidate() { endAnywhere() }

    private func serve() -> Bool {
        guard isAdmitted, let handler, let ending = process?.takeEnding() else { return false }
        invalidate()
        handler(self, ending)
        return true
    }
}

extension ProcessSource: DescriptorBacked {
    package func giveBack(inForkedChild isChild: Bool) {
        let (left, released) = (watch, handler)
        watch = nil
        handler = nil
        if !isChild { left?.invalidate() }
        process = nil
        // The handler is released last, when all state is consistent: an object that the handler holds can call the source when the
        // object is destroyed.
        withExtendedLifetime(released) {}
    }

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
    /// The process ID, and the place where the source was made.
    public var description: String { "source of process \(processID) made at \(origin)" }
}
