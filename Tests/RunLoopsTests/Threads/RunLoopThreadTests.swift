import Glibc
import TestSupport
import Testing

@testable import RunLoops

/// Threads that run their loop.
@Suite struct RunLoopThreadTests {
    @Test func `the loop is running when the initializer returns`() throws {
        let thread = try RunLoopThread(name: "worker")
        defer { thread.stop() }
        #expect(thread.runLoop.statistics.passes > 0)
        waitUntilAsleep(thread.runLoop)
        let (mode, isCurrent) = try thread.runLoop.performAndWait {
            (thread.runLoop.currentMode, thread.runLoop.isCurrent)
        }
        #expect(mode == .default)
        #expect(isCurrent)
        #expect(!thread.runLoop.isCurrent)
    }

    @Test func `thread and loop have the name that was given`() throws {
        let thread = try RunLoopThread(name: "worker")
        defer { thread.stop() }
        #expect(thread.name == "worker")
        #expect(thread.runLoop.name == "worker")
        #expect(thread.runLoop.description == "run loop \"worker\"")
    }

    @Test(arguments: [
        ("worker", "worker"), ("fifteen bytes..", "fifteen bytes.."), ("sixteen bytes...", "sixteen bytes.."),
        ("ääääääää", "äääääää"), ("fourteen bytesé", "fourteen bytes"), ("👨‍👩‍👧‍👦", ""), ("", ""),
    ]) func `the system sees the first 15 bytes of the name, whole characters only`(
        name: String, seen: String
    ) throws {
        let thread = try RunLoopThread(name: name)
        defer { thread.stop() }
        #expect(try thread.runLoop.performAndWait { contents(of: "/proc/thread-self/comm") } == seen + "\n")
        #expect(thread.runLoop.name == name)
    }

    @Test func `stopping ends the thread and its loop`() throws {
        let thread = try RunLoopThread(name: "short")
        thread.stop()
        #expect(thread.join())
        #expect(!thread.runLoop.perform {})
        // Calling either twice is harmless.
        thread.stop()
        #expect(thread.join())
    }

    @Test func `stopping ends runs inside handlers too`() throws {
        let thread = try RunLoopThread(name: "nested")
        let loop = thread.runLoop
        let inner = RunLoop.Mode("inner")
        let results = Log<RunLoop.RunResult>()
        let isInside = Gate()
        loop.perform {
            loop.perform(inModes: [inner]) {
                loop.perform(inModes: [.default]) { isInside.open() }
                results.add(loop.run(in: .default))
            }
            loop.add(Timer(timeInterval: .seconds(3_600), repeats: false) { _ in }, forMode: inner)
            results.add(loop.run(in: inner))
            // A run after the stop ends at once.
            results.add(loop.run(in: inner))
        }
        #expect(isInside.wait())
        thread.stop()
        #expect(thread.join(before: .hang))
        #expect(results.entries == [.stopped, .stopped, .stopped])
    }

    @Test func `stopping the loop ends a run, not the thread`() throws {
        let thread = try RunLoopThread(name: "worker")
        for _ in 0..<10 {
            thread.runLoop.stop()
            #expect(try thread.runLoop.performAndWait { thread.runLoop.currentMode } == .default)
        }
        #expect(!thread.join(before: .now))
        thread.stop()
        #expect(thread.join(before: .hang))
    }

    @Test func `a thread runs on after the last reference to its handle is released`() throws {
        let loop: RunLoop
        do {
            let thread = try RunLoopThread(name: "left alone")
            loop = thread.runLoop
        }
        #expect(try loop.performAndWait { loop.isCurrent })
        loop.handle.request(.end)
    }

    @Test func `a thread can stop itself`() throws {
        let thread = try RunLoopThread(name: "suicidal")
        thread.runLoop.perform { thread.stop() }
        #expect(thread.join(before: .hang))
    }

    @Test func `joining gives up at its deadline, and not before`() throws {
        let thread = try RunLoopThread(name: "worker")
        #expect(!thread.join(before: .now - .seconds(1)))
        for _ in 0..<10 {
            let deadline = ContinuousClock.now + .milliseconds(3)
            #expect(!thread.join(before: deadline))
            #expect(ContinuousClock.now >= deadline)
        }
        thread.stop()
        #expect(thread.join(before: .hang))
    }

    @Test func `any number of threads may join one thread, before and after its end`() throws {
        let thread = try RunLoopThread(name: "worker")
        let joiners = try (0..<4).map { _ in
            try BareThread { #expect(thread.join(before: .hang)) }
        }
        thread.stop()
        for joiner in joiners { joiner.join() }
        #expect(thread.join(before: .now - .seconds(1)))
    }

    // Guarantees: When ``RunLoopThread/join(before:fileID:line:)`` returns true, the loop has ended, and everything that its end
    // destroys is destroyed.
    @Test func `after a join, everything that the loop kept is destroyed`() throws {
        let gone = Log<String>()
        let thread = try RunLoopThread(name: "worker")
        thread.runLoop.perform(inModes: [.init("never run")]) { [canary = Canary { gone.add("gone") }] in
            canary.sing()
        }
        thread.stop()
        #expect(thread.join(before: .hang))
        #expect(gone.entries == ["gone"])
    }

    @Test func `a stack has the size that was asked for`() throws {
        let size = 24 << 20
        let thread = try RunLoopThread(name: "deep", stackSize: size - 1)
        defer { thread.stop() }
        let found = try thread.runLoop.performAndWait { sizeOfStack() }
        #expect(found >= size - (1 << 20))
    }

    @Test(arguments: [0, 1, -1, 16_384, 28_672, 65_535, 1 << 60, .max])
    func `a stack size that the system refuses, or that is too small, is an error that names the thread`(
        size: Int
    ) {
        let error = #expect(throws: SystemError.self) { try RunLoopThread(name: "refused", stackSize: size) }
        #expect("\(error, default: "")".contains("thread \"refused\" with a stack of \(size) bytes"))
    }

    @Test func `a thread runs on the processors that were named`() throws {
        let mine = usableProcessors()
        let first = try #require(mine.split { !$0.isNumber }.first)
        let thread = try RunLoopThread(name: "bound", processors: [try #require(Int(first))])
        defer { thread.stop() }
        #expect(try thread.runLoop.performAndWait { usableProcessors() } == first)
        let free = try RunLoopThread(name: "free")
        defer { free.stop() }
        #expect(try free.runLoop.performAndWait { usableProcessors() } == mine)
    }

    @Test(arguments: [[], [-1], [1_000_000], [1_023]] as [Set<Int>])
    func `processors that the system refuses are an error`(processors: Set<Int>) {
        let error = #expect(throws: SystemError(call: "pthread_setaffinity_np", code: EINVAL)) {
            try RunLoopThread(name: "refused", processors: processors)
        }
        #expect(
            "\(error, default: "")".contains("thread \"refused\" on the processors \(processors.sorted())"))
    }

    @Test func `a processor that does not exist is refused beside one that does`() throws {
        let number = try #require(usableProcessors().split { !$0.isNumber }.first)
        let first = try #require(Int(number))
        let error = #expect(throws: SystemError(call: "pthread_setaffinity_np", code: EINVAL)) {
            try RunLoopThread(name: "refused", processors: [first, 1_022])
        }
        #expect("\(error, default: "")".contains("on the processors [\(first), 1022]"))
    }

    @Test(arguments: [RunLoopThread.Priority.nice(5), .nice(19), .idle]) func `a thread has its priority`(
        priority: RunLoopThread.Priority
    ) throws {
        let thread = try RunLoopThread(name: "modest", priority: priority)
        defer { thread.stop() }
        let (policy, nice) = try thread.runLoop.performAndWait { schedulingOfThread() }
        switch priority {
        case .nice(let value): #expect((policy, nice) == (0, value))
        default: #expect(policy == 5)
        }
    }

    @Test(arguments: [
        RunLoopThread.Priority.nice(20), .nice(-21), .nice(.max), .roundRobin(0), .firstInFirstOut(100),
    ]) func `a priority that the system does not know is an error`(priority: RunLoopThread.Priority) {
        let error = #expect(throws: SystemError.self) {
            try RunLoopThread(name: "refused", priority: priority)
        }
        #expect(error?.code == EINVAL)
    }

    @Test func `a priority that the program has no privilege for is an error, and leaves no thread behind`()
        async
    {
        await #expect(processExitsWith: .success) {
            let before = threadCount()
            dropPrivileges()
            let refused: [(RunLoopThread.Priority, SystemError)] = [
                (.nice(-1), SystemError(call: "setpriority", code: EACCES)),
                (.roundRobin(1), SystemError(call: "sched_setscheduler", code: EPERM)),
                (.firstInFirstOut(1), SystemError(call: "sched_setscheduler", code: EPERM)),
            ]
            for (priority, expected) in refused {
                do {
                    _ = try RunLoopThread(name: "refused", priority: priority)
                    fatalError("\(priority) was granted")
                } catch { precondition(error as? SystemError == expected, "\(error)") }
            }
            waitUntilThreads(before)
        }
    }

    @Test func `a detached thread has a loop, which ends when the block returns`() throws {
        let (gone, name) = (Gate(), Log<String>())
        try RunLoopThread.detach(name: "detached") { loop in
            name.add(contents(of: "/proc/thread-self/comm"))
            #expect(loop.isCurrent)
            #expect(loop.currentMode == nil)
            loop.perform { [canary = Canary(gone)] in
                canary.sing()
                Issue.record("nobody runs the loop")
            }
        }
        #expect(gone.wait())
        #expect(name.entries == ["detached\n"])
    }

    @Test func `a detached thread takes the same options`() throws {
        let seen = Log<Int>()
        let done = Gate()
        let mine = usableProcessors()
        let first = try #require(mine.split { !$0.isNumber }.first.flatMap { Int($0) })
        try RunLoopThread.detach(
            name: "detached", stackSize: 16 << 20, processors: [first], priority: .nice(7)
        ) { _ in
            seen.add(schedulingOfThread().nice)
            #expect(sizeOfStack() >= 15 << 20)
            #expect(usableProcessors() == "\(first)")
            done.open()
        }
        #expect(done.wait())
        #expect(seen.entries == [7])
    }

    @Test func `ten thousand threads leave no descriptor, no thread and no memory behind`() async {
        // In a process of its own with few descriptors, in which a leak would make the initializer throw.
        await #expect(processExitsWith: .success) {
            try limitDescriptors(to: 64)
            try startAndEnd(500)
            let (threads, bytes) = (threadCount(), Allocations.bytesInUse)
            try startAndEnd(10_000)
            waitUntilThreads(threads)
            let grown = Allocations.bytesInUse - bytes
            // A leak of one word for each thread would exceed this.
            precondition(!Allocations.areCounted || grown < 40_000, "\(grown) bytes more")
        }
    }
}

/// Starts and ends a number of threads, each of which does some work.
private func startAndEnd(_ count: Int) throws {
    for number in 0..<count {
        let thread = try RunLoopThread(name: "thread \(number)")
        try thread.runLoop.performAndWait { RunLoop.current.addEndHandler {} }
        thread.runLoop.perform(after: .seconds(3_600)) {}
        thread.stop()
        precondition(thread.join(before: .hang), "a thread ends")
    }
}

/// The number of threads of the process.
private func threadCount() -> Int {
    let status = contents(of: "/proc/self/status").split(separator: "\n")
    let line = status.first { $0.hasPrefix("Threads:") }
    return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
}

/// Waits until the process has this number of threads: a joined thread can still be ending.
private func waitUntilThreads(_ count: Int) {
    let end = ContinuousClock.now + .seconds(30)
    while threadCount() > count {
        precondition(ContinuousClock.now < end, "\(threadCount()) threads, and \(count) before")
        sched_yield()
    }
}

/// The policy and the nice value of the calling thread.
private func schedulingOfThread() -> (policy: CInt, nice: Int) {
    // Safe: the call accesses no memory of this process.
    (sched_getscheduler(0), Int(getpriority(__priority_which_t(PRIO_PROCESS.rawValue), 0)))
}

/// Changes to an unprivileged user.
private func dropPrivileges() {
    if Child.canChangeUser { precondition(setuid(65_534) == 0, "root may become anybody") }
    // RLIMIT_NICE and RLIMIT_RTPRIO, which Swift does not import.
    for resource: UInt32 in [13, 14] {
        var limit = rlimit(rlim_cur: 0, rlim_max: 0)
        // Safe: the kernel reads a local variable.
        _ = unsafe setrlimit(__rlimit_resource_t(resource), &limit)
    }
}

/// The processors that the calling thread can use, in the notation of the kernel.
func usableProcessors() -> Substring {
    let status = contents(of: "/proc/thread-self/status").split(separator: "\n")
    return status.first { $0.hasPrefix("Cpus_allowed_list:") }?.split(separator: "\t").last ?? ""
}

/// The size of the memory mapping that contains the calling thread's stack.
private func sizeOfStack() -> Int {
    var local = 0
    // Safe: only the address is used.
    let address = unsafe withUnsafeMutablePointer(to: &local) { UInt(bitPattern: $0) }
    for line in contents(of: "/proc/self/maps").split(separator: "\n") {
        let bounds = line.prefix { $0 != " " }.split(separator: "-").compactMap { UInt($0, radix: 16) }
        if bounds.count == 2, (bounds[0]..<bounds[1]).contains(address) { return Int(bounds[1] - bounds[0]) }
    }
    return 0
}
