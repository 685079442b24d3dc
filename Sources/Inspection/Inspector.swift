public import MessagePorts
public import RunLoops

/// Lets other processes of the same user inspect the loops of this process while it runs.
///
/// ```swift
/// let recorder = try FlightRecorder()
/// let inspector = try Inspector(recorder: recorder)
/// ```
///
/// The program `runloop-inspect` then shows what each loop does, even while every loop is stuck: the inspector answers on a thread
/// of its own. It answers processes of the same user and of root, according to the credentials that the kernel reports. It shows
/// names of loops and threads, places in the source, and numbers; never the contents of messages. Nothing in the process can be
/// changed through it.
///
/// While an inspector is active, each call of a handler costs its loop a few plain stores, as with a `RunLoopWatchdog`, and each
/// sleep costs two readings of the clock. While no other process sends a request, the inspector's thread sleeps. To make a report,
/// the inspector sends each loop one block, in which the loop reports its inputs. All processes that ask within a tenth of a second, or
/// within four times the time that the answer took to make, get the same answer, so the number of requests costs the loops nothing.
///
/// The inspector listens on an abstract Unix socket, so processes of other containers do not see it.
///
/// > Thread safety: any thread.
public final class Inspector: Sendable {
    private let thread: RunLoopThread
    private let port: MessagePort
    private let isStopped = Guarded(false)

    /// Makes an inspector, and begins to answer other processes.
    ///
    /// A process has at most one inspector.
    ///
    /// - Parameter recorder: The flight recorder of the process, whose recording of the last seconds can then be inspected, too.
    ///   The inspector keeps the recorder alive.
    /// - Throws: `MessagePortError`, for example if the process has an inspector already, or has no descriptor left. In that case,
    ///   nothing is left open.
    public init(recorder: FlightRecorder? = nil) throws(MessagePortError) {
        port = try MessagePort(
            named: Inspector.name(of: ProcessFile.processID), options: Inspector.limits,
            admitting: { $0.isOfThisUser || $0.userID == 0 })
        do { thread = try RunLoopThread(name: "inspector") } catch { throw .system(error) }
        RunLoop.beginLooking()
        let started = OneShot<SystemError?>()
        thread.runLoop.perform { [port, recorder] in
            let loop = RunLoop.current
            loop.waitPolicy = .park
            let service = InspectorService(recorder)
            do throws(SystemError) {
                try loop.add(port, forMode: .default) { service.answer($0) }
                _ = started.decide(nil)
            } catch { _ = started.decide(error) }
        }
        started.wait()
        if let error = started.take() {
            stop()
            throw .system(error)
        }
    }

    deinit { stop() }

    /// Stops answering other processes.
    ///
    /// The release of the last reference also does this.
    ///
    /// Calling this method again does nothing.
    public func stop() {
        if Fork.isChild { return }
        if isStopped.withLock({ exchange(&$0, with: true) }) { return }
        RunLoop.endLooking()
        port.invalidate()
        thread.stop()
    }

    /// Returns the name of the port on which the inspector of a process listens.
    ///
    /// - Parameter process: The system's ID of the process.
    /// - Returns: The name, which is abstract: it begins with `@`.
    package static func name(of process: Int32) -> PortName {
        do { return try PortName("@\(Inspector.prefix)\(process)") } catch {
            preconditionFailure("the name is short and has no slash")
        }
    }

    static let prefix = "run-loop-inspector."

    /// The limits of the inspector's port.
    ///
    /// They are low, because an inspecting process sends only a few bytes and no descriptors.
    private static var limits: MessagePort.Options {
        var limits = MessagePort.Options()
        limits.messageByteLimit = 64
        limits.descriptorLimit = 0
        limits.connectionLimit = 16
        limits.connectionLimitPerProcess = 4
        // A process reads one answer before it asks for the next one. One that does not is not waited for.
        limits.keptReplyByteLimit = 0
        return limits
    }
}
