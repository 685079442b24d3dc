internal import CThreads

/// The thread's run loop: it sleeps until there is work, calls the handlers on its thread, and sleeps again.
///
/// Every thread has at most one, made when ``current`` is first asked for; there is no other way to make
/// one. A loop does nothing until its thread runs it, and then serves what was added to the ``Mode`` it runs
/// in: timers, ports, descriptors, signalled sources and the blocks that threads perform on it.
///
/// ```swift
/// let loop = RunLoop.current
/// loop.add(Timer(timeInterval: .seconds(1), repeats: true) { _ in print("tick") }, forMode: .default)
/// loop.run(until: .now + .seconds(5))
/// ```
///
/// Its members are of two kinds. *Anywhere*: performing, ``stop()``, ``wakeUp()``, ``name``, ``isCurrent``,
/// ``statistics``. *Own thread*: running, adding and removing, ``currentMode``; called on another thread they
/// end the program and say what to call instead. What is given to an own-thread member is only used there,
/// so it need not be `Sendable`. <doc:Threads> tells more.
///
/// A loop ends with its thread: jobs of actors that wait are run, its inputs are removed, blocks that wait are
/// destroyed without having run, and ``perform(fileID:line:_:)`` answers false from then on.
///
/// > Thread safety: said by each member.
public final class RunLoop: Sendable {
    let handle: LoopHandle
    let isMain: Bool

    /// What tasks prefer that are to run on the loop's thread.
    ///
    /// A preference, for code that is isolated to no actor: ``TaskExecutor`` says what runs there. Code that must never
    /// run on another thread belongs in an actor that lives on the loop.
    ///
    /// > Thread safety: any thread.
    public let taskExecutor: TaskExecutor

    /// Nil once the thread has ended.
    ///
    /// `nonisolated(unsafe)`: touched by the loop's own thread only, which every way to it checks; the main loop's is set
    /// before anybody can have the loop, and taken by whoever finds that its thread has gone without it (``endAbandoned()``).
    nonisolated(unsafe) private var ownCore: LoopCore?

    let storedName = Guarded("")

    /// The objects that other modules keep with the loop.
    let objects = LoopObjects()

    private init(isMain: Bool) throws(SystemError) {
        Fork.check("RunLoop")
        try Fork.watch()
        handle = try LoopOpening.withTurn { () throws(SystemError) in try LoopHandle() }
        self.isMain = isMain
        taskExecutor = TaskExecutor(handle: handle)
        let executors = Executors(serial: self, task: taskExecutor)
        let core = try LoopOpening.withTurn { () throws(SystemError) in
            try LoopCore(handle: handle, executors: executors, isMain: isMain)
        }
        if isMain, let queue = try MainQueue(watchedBy: core.poller) { core.mainQueue = .served(queue) }
        unsafe ownCore = core
        LoopRegistry.add(self)
    }

    // MARK: - Which loop

    /// The calling thread's loop, made now if it has none.
    ///
    /// If the kernel has no descriptor left for a new loop, the program ends; a program that wants to live
    /// on calls ``makeCurrent()`` first.
    ///
    /// > Thread safety: any thread; the answer differs. Not in asynchronous code, where the thread may
    /// > change.
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

    /// The calling thread's loop, made now if it has none, or an error where the kernel has nothing left.
    ///
    /// - Returns: The loop; ``current`` from now on.
    /// - Throws: ``SystemError``. Nothing is left open, and the thread has no loop; trying again is fine.
    ///
    /// > Thread safety: any thread; the answer differs.
    @available(
        *, noasync,
        message: "the thread may change at any await; keep the loop you want, or use RunLoopThread"
    )
    public static func makeCurrent() throws(SystemError) -> RunLoop {
        Fork.check("RunLoop.current")
        // Safe: the slot holds nothing, or the reference that `install` put there.
        if let known = unsafe runloops_thread_loop() {
            return unsafe Unmanaged<RunLoop>.fromOpaque(known).takeUnretainedValue()
        }
        let loop = runloops_is_main_thread() ? main : try RunLoop(isMain: false)
        loop.install()
        return loop
    }

    /// The main thread's loop.
    ///
    /// In its common modes it serves the main dispatch queue, too, and so the main actor: <doc:MainThread>. If the main
    /// thread was given away, by `dispatchMain()` or by an asynchronous main that has not called ``adoptMain()``, the loop
    /// has ended.
    ///
    /// > Thread safety: any thread.
    public static let main: RunLoop = {
        // While one thread makes it, all others that ask for it wait for that.
        let cancelling = Cancelling.putOff()
        defer { cancelling.goOn() }
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
        unsafe runloops_thread_set_loop(Unmanaged.passRetained(self).toOpaque())
        ThreadEnd.watch(.loop) {
            let notice = RunLoop.endCurrent()
            return notice.map { notice in { notice.give() } }
        }
    }

    /// Ends the calling thread's loop, if it has one.
    ///
    /// - Returns: What is to be given when the thread keeps nothing any more.
    @discardableResult
    static func endCurrent() -> EndNotice? {
        // In a forked child the loop is left as it is: taking it apart would reach its parent's kernel objects.
        guard !Fork.isChild, let known = unsafe runloops_thread_loop() else { return nil }
        // Safe: takes back the reference of `install`. The slot stays filled until the loop has let go of
        // everything, because what is destroyed may ask for the current loop.
        let loop = unsafe Unmanaged<RunLoop>.fromOpaque(known).takeRetainedValue()
        unsafe loop.ownCore?.blocks.requireNoJobOnStack()
        unsafe loop.ownCore?.prepareEnd()
        unsafe loop.ownCore?.callEndHandlers()
        LoopRegistry.remove(loop)
        if loop.isMain, let core = unsafe loop.ownCore { reportAbandoned(core) }
        unsafe loop.ownCore?.end(loop.objects.takeCompanions)
        loop.objects.end()
        // What was destroyed at last may have left jobs.
        unsafe loop.ownCore?.runLastJobs()
        runloops_thread_set_loop(nil)
        defer { unsafe loop.ownCore = nil }
        unsafe loop.ownCore?.closeDescriptors()
        return unsafe loop.ownCore?.ending.notice
    }

    /// Gives the calling thread another loop for a while, which ends with it.
    ///
    /// The one that the thread has stands still meanwhile.
    ///
    /// - Parameter body: Called with the other one; it is ``current`` until the body returns.
    /// - Returns: What the body returns.
    /// - Throws: What the body throws, or ``SystemError`` if there is no room for another loop.
    package static func withAnotherLoop<Result>(_ body: (RunLoop) throws -> Result) throws -> Result {
        let loop = try RunLoop(isMain: false)
        // Safe: the slot's reference stays with this frame, which puts it back when the other loop has left the slot.
        let outer = unsafe runloops_thread_loop()
        runloops_thread_set_loop(nil)
        loop.install()
        defer {
            endCurrent()
            unsafe runloops_thread_set_loop(outer)
        }
        return try body(loop)
    }

    /// Ends the main loop for a main thread that has gone, and never had it.
    func endAbandoned() {
        // Safe: that thread is the only other one that would touch it.
        guard let core = unsafe ownCore else { return }
        LoopRegistry.remove(self)
        RunLoop.reportAbandoned(core)
        unsafe ownCore = nil
        core.end(objects.takeCompanions)
        objects.end()
        core.closeDescriptors()
    }

    /// The calling thread's loop, if it has one.
    package static var existing: RunLoop? {
        // Safe: the slot holds the reference of `install`.
        unsafe runloops_thread_loop().map { unsafe Unmanaged<RunLoop>.fromOpaque($0).takeUnretainedValue() }
    }

    // MARK: - Anywhere

    /// Whether this is the calling thread's loop.
    ///
    /// > Thread safety: any thread. In asynchronous code the answer holds until the next `await`.
    public var isCurrent: Bool { isInstalled || isMain && becomesCurrent() }

    @inline(__always)
    private var isInstalled: Bool {
        // Safe: compares addresses.
        unsafe runloops_thread_loop() == UnsafeMutableRawPointer(Unmanaged.passUnretained(self).toOpaque())
    }

    /// Whether this is the main loop, on the main thread, which has not asked for its loop before.
    @inline(never)
    private func becomesCurrent() -> Bool {
        // Safe: the loop's own thread looks.
        guard unsafe runloops_thread_loop() == nil, runloops_is_main_thread(), unsafe ownCore != nil else {
            return false
        }
        install()
        return true
    }

    /// What messages and descriptions call this loop.
    ///
    /// The main loop's is "main", that of a ``RunLoopThread`` is the thread's, and any other's is empty until it is set.
    ///
    /// > Thread safety: any thread.
    public var name: String {
        get { storedName.withLock { $0 } }
        set { storedName.withLock { $0 = newValue } }
    }

    // MARK: - Own thread

    /// The loop's inside, for a member that may only be used on the loop's thread.
    ///
    /// - Parameters:
    ///   - member: Which member, for the message.
    ///   - instead: What the caller does instead.
    /// - Returns: The inside.
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
        return core
    }

    /// The loop's inside, if the caller is on the loop's thread.
    @inline(__always)
    var coreIfCurrent: LoopCore? { isCurrent ? unsafe ownCore : nil }

    /// The inside of the calling thread's loop, if the handle is that loop's.
    @inline(__always)
    static func coreOfThread(with handle: LoopHandle) -> LoopCore? {
        guard let known = unsafe runloops_thread_loop() else { return nil }
        // Safe: the slot holds the reference of `install`, and this thread alone empties it.
        return unsafe Unmanaged<RunLoop>.fromOpaque(known)._withUnsafeGuaranteedRef { loop in
            unsafe loop.handle === handle ? loop.ownCore : nil
        }
    }
}

extension RunLoop: Hashable, CustomStringConvertible {
    /// Whether both are the same loop.
    ///
    /// - Parameters:
    ///   - left: A loop.
    ///   - right: Another one.
    /// - Returns: Whether both are the same loop.
    public static func == (left: RunLoop, right: RunLoop) -> Bool { left === right }

    /// Feeds the loop's identity.
    ///
    /// - Parameter hasher: What is fed.
    public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    /// The loop's name.
    public var description: String { name.isEmpty ? "unnamed run loop" : "run loop \"\(name)\"" }
}
