import Foundation
import RunLoops
import TestExpectations
import TestSupport
import Testing

import class RunLoops.RunLoop
import class RunLoops.Timer

/// The ends of processes, as a loop reports them.
@Suite struct ProcessSourceTests {
    // Guarantees: A source takes the status of its child once, and takes the status of no other child.
    @Test(arguments: [
        ("exit 0", ProcessSource.Ending.exited(0)), ("exit 7", .exited(7)), ("exit 255", .exited(255)),
        ("kill -TERM $$", .killed(signal: SIGTERM, coreDumped: false)),
        ("kill -KILL $$", .killed(signal: SIGKILL, coreDumped: false)),
    ])
    func `a child's end calls the handler once, with its status`(
        command: String, ending: ProcessSource.Ending
    )
        throws
    {
        try onLoopThread { loop in
            let child = Child(shell: command)
            var endings: [ProcessSource.Ending] = []
            let source = try ProcessSource(child.processID) { source, ending in
                #expect(loop.isCurrent && source.processID == child.processID && !source.isValid)
                endings.append(ending)
            }
            try loop.add(source, forMode: .default)
            // The source keeps the mode alive until the child has ended.
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(endings == [ending])
            // The source has reaped the child, so the kernel no longer knows the process.
            #expect(child.wait() == .unknown)
        }
    }

    @Test func `a child that a signal has ended says whether it has dumped core`() throws {
        let place = FileManager.default.temporaryDirectory.appending(path: "dumps-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: place, withIntermediateDirectories: true)
        defer { do { try FileManager.default.removeItem(at: place) } catch { Issue.record(error) } }
        // If the system writes dumps elsewhere, or the limit cannot be raised, no dump is found.
        let pattern = try String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
        for limit in ["0", "unlimited"] {
            try onLoopThread { loop in
                let child = Child(shell: "cd \(place.path) && ulimit -c \(limit); kill -ABRT $$")
                var endings: [ProcessSource.Ending] = []
                let source = try ProcessSource(child.processID) { _, ending in endings.append(ending) }
                try loop.add(source, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .finished)
                let dumps = try FileManager.default.contentsOfDirectory(atPath: place.path)
                if pattern.hasPrefix("/") || pattern.hasPrefix("|") { return }
                #expect(endings == [.killed(signal: SIGABRT, coreDumped: !dumps.isEmpty)])
            }
        }
    }

    @Test func `a child that has ended before is told too`() throws {
        try onLoopThread { loop in
            let child = Child(shell: "exit 3")
            waitUntilEnded(child)
            var endings: [ProcessSource.Ending] = []
            let source = try ProcessSource(child.processID) { _, ending in endings.append(ending) }
            try loop.add(source, forMode: .default)
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(endings == [.exited(3)])
        }
    }

    @Test func `a child that other code has waited for has ended, with a status that is taken`() throws {
        try onLoopThread { loop in
            let child = Child(shell: "exit 3")
            var endings: [ProcessSource.Ending] = []
            let source = try ProcessSource(child.processID) { _, ending in endings.append(ending) }
            try loop.add(source, forMode: .default)
            #expect(child.wait() == .exited(3))
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(endings == [.statusTaken])
        }
    }

    @Test func `where SIGCHLD is ignored the kernel forgets the status, and the end is told all the same`()
        async throws
    {
        try await #require(processExitsWith: .success) {
            Signals.ignore(SIGCHLD)
            try onLoopThread { loop in
                // The child stops until the test continues it, so that there is a process to watch.
                let child = Child(shell: "kill -STOP $$; exit 3")
                var endings: [ProcessSource.Ending] = []
                let source = try ProcessSource(child.processID) { _, ending in endings.append(ending) }
                try loop.add(source, forMode: .default)
                let wakes = Timer(timeInterval: .milliseconds(1), repeats: true) { _ in
                    kill(child.processID, SIGCONT)
                    if !endings.isEmpty { loop.stop() }
                }
                loop.add(wakes, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .stopped)
                #expect(endings == [.statusTaken])
            }
        }
    }

    @Test func `a process that is no child has ended, and only its parent knows how`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            // The grandchild is a child of the child, which waits for it.
            let child = Child(shell: "sleep 1000 & echo $! >/proc/$PPID/fd/\(wire.far); wait $!; exit 5")
            var grandchild: CInt?
            let source = DescriptorSource(wire.near, interest: .read) { source, _ in
                var bytes = [UInt8](repeating: 0, count: 32)
                // Safe: the kernel writes at most the length of the array.
                let count = unsafe read(source.descriptor, &bytes, bytes.count)
                grandchild = CInt(String(decoding: bytes.prefix(max(count - 1, 0)), as: UTF8.self))
                source.invalidate()
            }
            try loop.add(source, forMode: .default)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            let number = try #require(grandchild)
            var endings: [ProcessSource.Ending] = []
            try loop.add(ProcessSource(number) { _, ending in endings.append(ending) }, forMode: .default)
            #expect(loop.run(in: .default, until: .now) == .timedOut)
            kill(number, SIGTERM)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            #expect(endings == [.notAChild])
            #expect(child.wait() == .exited(5))
        }
    }

    @Test func `a process that is gone is an error`() throws {
        let child = Child(shell: "exit 0")
        child.wait()
        #expect(throws: SystemError(call: "pidfd_open", code: ESRCH)) {
            try ProcessSource(child.processID) { _, _ in }
        }
    }

    @Test func `an end is told in the source's modes, and waits meanwhile`() throws {
        try onLoopThread { loop in
            let custom = RunLoop.Mode("custom")
            let child = Child(shell: "exit 3")
            var modes: [RunLoop.Mode?] = []
            let source = try ProcessSource(child.processID) { _, _ in modes.append(loop.currentMode) }
            waitUntilEnded(child)
            try loop.add(source, forMode: .default)
            try loop.add(source, forMode: custom)
            loop.remove(source, forMode: .default)
            #expect(loop.run(in: .default, until: .hang) == .finished)
            loop.remove(source, forMode: custom)
            #expect(loop.run(in: custom, until: .hang) == .finished)
            #expect(modes == [] && source.isValid)
            try loop.add(source, forMode: .common)
            loop.addCommonMode(custom)
            #expect(loop.run(in: custom, until: .hang) == .finished)
            #expect(modes == [custom])
        }
    }

    @Test func `a source that ends before its child leaves the child to the program`() throws {
        try onLoopThread { loop in
            for ends in [true, false] {
                let child = Child(shell: "exit 3")
                let gone = Gate()
                do {
                    let source = try ProcessSource(child.processID) { [canary = Canary(gone)] _, _ in
                        canary.sing()
                        Issue.record("it was invalidated, or has gone")
                    }
                    try loop.add(source, forMode: .default)
                    if ends { source.invalidate() } else { loop.remove(source, forMode: .default) }
                    #expect(source.isValid != ends)
                    try loop.add(source, forMode: .default)
                    loop.remove(source, forMode: .default)
                }
                #expect(gone.wait(seconds: 1))
                waitUntilEnded(child)
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(child.wait() == .exited(3))
            }
        }
    }

    @Test func `a source ends with its loop`() throws {
        let child = Child(shell: "exit 3")
        let gone = Gate()
        try BareThread {
            do {
                let source = try ProcessSource(child.processID) { [canary = Canary(gone)] _, _ in
                    canary.sing()
                }
                try RunLoop.current.add(source, forMode: .default)
            } catch { Issue.record(error) }
        }.join()
        #expect(gone.wait(seconds: 1))
        #expect(child.wait() == .exited(3))
    }

    // Guarantees: A source takes the status of its child once, and takes the status of no other child.
    @Test func `SIGCHLD and other children are left alone`() async throws {
        try await #require(processExitsWith: .success) {
            Signals.handle(SIGCHLD)
            try onLoopThread { loop in
                let other = Child(shell: "exit 4")
                let child = Child(shell: "exit 3")
                var endings: [ProcessSource.Ending] = []
                let source = try ProcessSource(child.processID) { _, ending in endings.append(ending) }
                try loop.add(source, forMode: .default)
                #expect(loop.run(in: .default, until: .hang) == .finished)
                #expect(endings == [.exited(3)])
                #expect(other.wait() == .exited(4))
            }
            #expect(Signals.action(of: SIGCHLD) == .handler)
        }
    }

    @Test func `three hundred children are each told of once, and leave nothing`() async throws {
        try await #require(processExitsWith: .success) {
            try onLoopThread { loop in
                var bound = 0
                var endings: [CInt: ProcessSource.Ending] = [:]
                for round in 0..<10 {
                    // From the second round on, because the loop opens a descriptor for its first source.
                    if round == 1 { bound = try boundOfDescriptors() }
                    for number in 0..<30 {
                        let child = Child(shell: "exit \(number)")
                        let source = try ProcessSource(child.processID) { source, ending in
                            #expect(ending == .exited(CInt(number)))
                            #expect(endings.updateValue(ending, forKey: source.processID) == nil)
                        }
                        try loop.add(source, forMode: .default)
                    }
                    #expect(loop.run(in: .default, until: .hang) == .finished)
                    #expect(endings.count == (round + 1) * 30)
                    endings = round == 9 ? [:] : endings
                }
                #expect(openDescriptors(from: bound) == 0)
                // No child remains.
                #expect(waitpid(-1, nil, WNOHANG) == -1 && errno == ECHILD)
            }
        }
    }

    @Test func `the kernel's refusal is an error`() async throws {
        try await #require(processExitsWith: .success) {
            let child = Child(shell: "exit 0")
            let bound = try boundOfDescriptors()
            #expect(refusal(bound, free: 0) { _ = try ProcessSource(child.processID) { _, _ in } } == EMFILE)
            #expect(refusal(bound, free: 1) { _ = try ProcessSource(child.processID) { _, _ in } } == nil)
            #expect(openDescriptors(from: bound) == 0)
            child.wait()
        }
    }
}

/// Waits until a child has ended, without reaping it.
private func waitUntilEnded(_ child: Child) {
    var info = unsafe siginfo_t()
    // Safe: the kernel fills a local variable.
    let result = unsafe waitid(P_PID, id_t(child.processID), &info, WEXITED | CInt(WNOWAIT))
    #expect(result == 0)
}
