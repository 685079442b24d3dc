internal import CRunLoops
internal import Glibc
package import Synchronization

/// The run loop of a thread, which sleeps until there is work, calls your handlers on the thread, and sleeps again.
///
/// Every thread has at most one loop, which is made when the thread first uses ``current`` or ``makeCurrent()``. There is no other
/// way to make a loop. A loop does nothing until its thread runs it. Then it serves the inputs that were added to the ``Mode`` it
/// runs in: timers, ports, descriptors, signalled sources and the blocks that threads perform on it.
///
/// ```swift
/// let loop = RunLoop.current
/// loop.add(Timer(timeInterval: .seconds(1), repeats: true) { _ in print("tick") }, forMode: .default)
/// loop.run(until: .now + .seconds(5))
/// ```
///
/// The members of a loop are of two kinds. *Anywhere*: performing, ``stop()``, ``wakeUp()``, ``name``, ``isCurrent``,
/// ``statistics``, ``currentMode``, removing. *Own thread*: running and adding; if another thread calls an own-thread member, the
/// program ends with a message that says which member to call instead. A value that you pass to an own-thread member is used on
/// that thread only, so it need not be `Sendable`: <doc:Threads>.
///
/// A loop ends with its thread: it runs the waiting jobs of actors, removes its inputs, and destroys waiting blocks without running
/// them. From then on, ``perform(fileID:line:_:)`` returns false: <doc:LoopEnd>.
///
/// > Thread safety: see each member.
public final class RunLoop: Sendable {
    let handle: LoopHandle
    let isMain: Bool

    /// The executor for tasks that prefer the loop's thread.
    ///
    /// The executor is a preference, for code that is isolated to no actor: see ``TaskExecutor``. Code that must never run on
    /// another thread belongs in an actor that lives on the loop.
    ///
    /// > Thread safety: any thread.
    public let taskExecutor: TaskExecutor

    /// The object that does the work of the loop; nil after the thread has ended.
    ///
    /// `nonisolated(unsafe)`: only the loop's own thread touches the core, and every access checks the thread. The core of the main
    /// loop is set before any thread can have the loop. If the program gave the main thread to Dispatch, the thread that detects
    /// this takes the core, to end it (``endAbandoned()``).
    nonisolated(unsafe) private var ownCore: LoopCore?

    let storedName = Guarded("")

    /// The thread of the loop, as the system's threads library knows it; 0 before it has the loop, and after its end.
    package let posixThread = Atomic<UInt>(0)

    /// The objects that other modules of the package keep for this loop.
    let objects = LoopObjects()

    private init(isMain: Bool) throws(SystemError) {
        Fork.check("RunLoop")
        try Fork.watch()
        handle = try LoopOpening.serialize { () throws(SystemError) in try LoopHandle() }
        self.isMain = isMain
        taskExecutor = TaskExecutor(handle: handle)
        let executors = unsafe Executors(
            serial: asUnownedSerialExecutor(), task: taskExecutor.asUnownedTaskExecutor())
        unsafe handle.executors = executors
        let core = try LoopOpening.serialize { () throws(SystemError) in
            try LoopCore(handle: handle, executors: executors, isMain: isMain)
        }
        if isMain, let queue = try MainQueue(watchedBy: core.poller) { core.mainQueue = .served(queue) }
        unsafe ownCore = core
        LoopRegistry.add(self)
    }

    // MARK: - Which loop

    /// The calling thread's loop, which is made now if the thread has no loop.
    ///
    /// If the kernel has no descriptor left for a new loop, the program ends; to handle this as an error, call ``makeCurrent()``
    /// first.
    ///
    /// > Thread safety: any thread; each thread gets its own loop. Not in asynchronous code, where the thread can change.
    @available(
        *, noasync,
        message: "the thread may change at any await; keep the loop you want, or use RunLoopThread"
    )
    public static var current: RunLoop {
        do { return try makeCurrent() } catch {
            fatalError(
                "RunLoop.current: \(error); raise the limit of open descriptors, or use RunLoop.makeCurrent()"
            )
        }
    }

    /// Returns the calling thread's loop, which is made now if the thread has no loop.
    ///
    /// - Returns: The loop, which is ``current`` from now on.
    /// - Throws: ``SystemError`` if the kernel refuses a new loop, for example because the process has no descriptor left. The
    ///   thread then has no loop, no descriptor is left open, and you can try again.
    ///
    /// > Thread safety: any thread; each thread gets its own loop. Not in asynchronous code, where the thread can change.
    @available(
        *, noasync,
        message: "the thread may change at any await; keep the loop you want, or use RunLoopThread"
    )
    public static func makeCurrent() throws(SystemError) -> RunLoop {
        Fork.check("RunLoop.current")
        // Safe: the thread's slot for its loop is empty, or holds the reference that `install` stored.
        if let known = unsafe runloops_thread_loop() {
            return unsafe Unmanaged<RunLoop>.fromOpaque(known).takeUnretainedValue()
        }
        let loop = runloops_is_main_thread() ? main : try RunLoop(isMain: false)
        loop.install()
        return loop
    }

    /// The main thread's loop.
    ///
    /// In its common modes it also serves the main dispatch queue, and so the main actor: <doc:MainThread>. The loop has ended if
    /// the program gave the main thread to Dispatch, by `dispatchMain()` or by an asynchronous main that has not called
    /// ``adoptMain()``.
    ///
    /// > Thread safety: any thread.
    public static let main: RunLoop = {
        // While one thread makes the loop, all other threads that ask for the loop wait. If the first thread were cancelled, they
        // would wait for ever.
        let cancellation = ThreadCancellation.disable()
        defer { cancellation.restore() }
        do {
            let loop = try RunLoop(isMain: true)
            loop.name = "main"
            loop.meetMainThread()
            return loop
        } catch {
            fatalError("RunLoop.main: \(error); raise the limit of open descriptors")
        }
    }()

    /// Makes this the calling thread's loop.
    func install() {
        if isInstalled { return }
        handle.processorTime.begin()
        posixThread.store(UInt(pthread_self()), ordering: .relaxed)
        _ = unsafe Unmanaged.passRetained(self)
        fillSlot()
        ThreadEnd.watch(.loop) {
            let notice = RunLoop.endCurrent()
            return notice.map { notice in { notice.post() } }
        }
    }

    /// Stores this loop in the calling thread's slot, which owns a reference to it.
    private func fillSlot() {
        // Safe: the core exists until the slot is empty again.
        let members = unsafe ownCore.map { unsafe Unmanaged.passUnretained($0.members).toOpaque() }
        unsafe runloops_thread_set_loop(
            Unmanaged.passUnretained(self).toOpaque(), Unmanaged.passUnretained(handle).toOpaque(), members)
    }

    /// Ends the calling thread's loop, if it has one.
    ///
    /// - Returns: The notice that the thread has ended; nil if there is no loop. The caller posts the notice after the thread has
    ///   released all objects.
    @discardableResult
    static func endCurrent() -> EndNotice? {
        // In a forked child the loop is not taken apart, because that would change the parent's kernel objects.
        guard !Fork.isChild, let known = unsafe runloops_thread_loop() else { return nil }
        // Safe: this takes over the reference that `install` stored. The slot is not cleared until the loop has released all
        // objects, because a deinit can use the current loop.
        let loop = unsafe Unmanaged<RunLoop>.fromOpaque(known).takeRetainedValue()
        unsafe loop.ownCore?.blocks.requireNoJobOnStack()
        unsafe loop.ownCore?.prepareEnd()
        unsafe loop.ownCore?.callEndHandlers()
        LoopRegistry.remove(loop)
        loop.posixThread.store(0, ordering: .relaxed)
        if loop.isMain, let core = unsafe loop.ownCore { reportAbandoned(core) }
        unsafe loop.ownCore?.end(loop.objects.takeCompanions)
        loop.objects.end()
        // The steps above have destroyed objects, which can have enqueued jobs in their deinit.
        unsafe loop.ownCore?.runLastJobs()
        loop.handle.processorTime.end()
        runloops_thread_set_loop(nil, nil, nil)
        defer { unsafe loop.ownCore = nil }
        unsafe loop.ownCore?.closeDescriptors()
        return unsafe loop.ownCore?.ending.notice
    }

    /// Makes a new loop, calls `body` while that loop is the calling thread's loop, and then ends the new loop.
    ///
    /// The thread's own loop does not run during the call.
    ///
    /// - Parameter body: Called with the other loop, which is ``current`` until the body returns.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body, or ``SystemError`` if the kernel refuses another loop.
    package static func withAnotherLoop<Result>(_ body: (RunLoop) throws -> Result) throws -> Result {
        let loop = try RunLoop(isMain: false)
        // Safe: this function keeps the reference from the slot, and stores it there again when the other loop has left the slot.
        let outer = existing
        runloops_thread_set_loop(nil, nil, nil)
        loop.install()
        defer {
            endCurrent()
            outer?.fillSlot()
        }
        return try body(loop)
    }

    /// Ends the main loop, because the program gave the main thread to Dispatch before that thread used the loop.
    func endAbandoned() {
        // Safe: only the main thread would touch the core, and it was given away before it used the loop.
        guard let core = unsafe ownCore else { return }
        LoopRegistry.remove(self)
        RunLoop.reportAbandoned(core)
        unsafe ownCore = nil
        core.end(objects.takeCompanions)
        objects.end()
        core.closeDescriptors()
    }

    /// The calling thread's loop; nil if the thread has no loop.
    package static var existing: RunLoop? {
        // Safe: the slot holds the reference of `install`.
        unsafe runloops_thread_loop().map { unsafe Unmanaged<RunLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: - Anywhere

    /// True if this is the calling thread's loop.
    ///
    /// > Thread safety: any thread. In asynchronous code the value is correct until the next `await`.
    public var isCurrent: Bool { isInstalled || isMain && becomesCurrent() }

    @inline(__always)
    private var isInstalled: Bool {
        // Safe: it only compares addresses.
        unsafe runloops_thread_loop() == UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// Installs the main loop if the caller is the main thread and has not used its loop before.
    ///
    /// - Returns: True if the call installed the loop.
    @inline(never)
    private func becomesCurrent() -> Bool {
        // Safe: the caller is the loop's own thread.
        guard unsafe runloops_thread_loop() == nil, runloops_is_main_thread(), unsafe ownCore != nil else {
            return false
        }
        install()
        return true
    }

    /// The name of the loop in messages and descriptions.
    ///
    /// The main loop's name is "main", and the name of a ``RunLoopThread``'s loop is the thread's name. The name of any other loop
    /// is empty until you set it.
    ///
    /// > Thread safety: any thread.
    public var name: String {
        get { storedName.withLock { $0 } }
        set { storedName.withLock { $0 = newValue } }
    }

    // MARK: - Own thread

    /// Returns the loop's core, or ends the program if the caller is not on the loop's thread.
    ///
    /// - Parameters:
    ///   - member: The name of the calling member, for the message with which the program ends.
    ///   - instead: The advice in that message: what to call instead.
    /// - Returns: The core.
    func core(_ member: StaticString, _ instead: StaticString) -> LoopCore {
        Fork.check(member)
        guard isCurrent, let core = unsafe ownCore else {
            if isMain && MainQueue.isGivenAway {
                misuse(
                    "\(member): the main thread was given away, by dispatchMain() or the first await of an asynchronous main; call RunLoop.adoptMain() before that await"
                )
            }
            misuse("\(member): called outside the loop's own thread (\(description)); \(instead)")
        }
        core.members.takeHandOversIfAny()
        return core
    }

    /// The loop's core; nil if the caller is not on the loop's thread.
    @inline(__always)
    var coreIfCurrent: LoopCore? { isCurrent ? unsafe ownCore : nil }

    /// Returns the core of the calling thread's loop; nil if `handle` is not the handle of that loop.
    @inline(__always)
    static func coreOfThread(with handle: LoopHandle) -> LoopCore? {
        guard let known = unsafe runloops_thread_loop() else { return nil }
        // Safe: the slot holds the reference of `install`, and only this thread clears the slot.
        return unsafe Unmanaged<RunLoop>.fromOpaque(known)._withUnsafeGuaranteedRef { loop in
            unsafe loop.handle === handle ? loop.ownCore : nil
        }
    }
}

extension RunLoop: HashableByIdentity, CustomStringConvertible {
    /// The loop's name.
    public var description: String { name.isEmpty ? "unnamed run loop" : "run loop \"\(name)\"" }
}
