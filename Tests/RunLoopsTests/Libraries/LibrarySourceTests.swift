import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// The calls of a library's service, and their arguments.
@Suite struct LibrarySourceTests {
    // Guarantees: In one pass the service is called at most once, for all descriptors that are ready and for the deadline.
    @Test func `all that is ready, and the deadline, are one call in the step of the ports`() throws {
        try onLoopThread { loop in
            let wires = try (0..<5).map { _ in try Wire.pipe() }
            defer { for wire in wires { wire.close() } }
            let library = try PipeLibrary()
            var order: [String] = []
            library.afterReports = { _ in order.append("library") }
            let port = Port<Void>()
            loop.add(port, forMode: .default) { order.append("port") }
            loop.add(
                Timer(fireAt: .now, interval: .zero, repeats: false) { _ in order.append("timer") },
                forMode: .default)
            for wire in wires {
                library.source.setInterest(.read, of: wire.near)
                wire.send()
            }
            library.source.deadline = .now
            try port.send()
            try loop.add(library.source, forMode: .default)
            let passes = loop.statistics.passes
            #expect(loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            #expect(loop.statistics.passes == passes + 1)
            #expect(order == ["timer", "library", "port"])
            #expect(library.calls.count == 1)
            #expect(library.calls[0].isDue)
            #expect(library.calls[0].descriptors == wires.map(\.near).sorted())
            for report in library.calls[0].reports { #expect(report.readiness == .readable) }
            library.source.invalidate()
        }
    }

    @Test func `a source whose service runs counts as served, and one that has nothing to serve does not`()
        throws
    {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            let library = try PipeLibrary()
            library.source.setInterest(.read, of: wire.near)
            try loop.add(library.source, forMode: .default)
            wire.send()
            // An earlier step of the pass empties the pipe, after the kernel has reported it.
            loop.add(
                Timer(fireAt: .now, interval: .zero, repeats: false) { _ in wire.drain() },
                forMode: .default)
            let result = loop.run(in: .default, until: .now, returnAfterSourceHandled: true)
            #expect(result == .timedOut)
            #expect(library.calls == [])
            library.source.invalidate()
        }
    }

    @Test func `reading, writing, the end of the peer and errors are reported`() throws {
        try onLoopThread { loop in
            let library = try PipeLibrary()
            try loop.add(library.source, forMode: .default)
            func reports(_ interest: DescriptorSource.Interest, of descriptor: CInt) -> [LibrarySource.Report]
            {
                library.source.setInterest(interest, of: descriptor)
                library.calls = []
                loop.pass()
                library.source.setInterest([], of: descriptor)
                return library.calls.flatMap(\.reports)
            }
            let (sockets, pipe) = (try Wire.sockets(), try Wire.pipe())
            defer { for wire in [sockets, pipe] { wire.close() } }
            let near = sockets.near
            #expect(reports(.read, of: near).isEmpty)
            #expect(reports(.write, of: near).map(\.readiness) == [.writable])
            sockets.send()
            #expect(reports([.read, .write], of: near).map(\.readiness) == [[.readable, .writable]])
            shutdown(sockets.far, CInt(SHUT_WR))
            #expect(reports(.read, of: near).map(\.readiness) == [[.readable, .hangUp]])
            pipe.close(pipe.near)
            #expect(Wire.otherEndCloses(of: pipe.far))
            #expect(reports(.write, of: pipe.far).map(\.readiness) == [[.writable, .error]])
            #expect(reports(.read, of: pipe.far).map(\.readiness) == [.error])
            library.source.invalidate()
        }
    }

    // Guarantees: A report of a descriptor that is no longer watched is dropped.
    @Test func `what was let go of, or is not of interest any more, is not reported`() throws {
        try onLoopThread { loop in
            let wires = try (0..<3).map { _ in try Wire.sockets() }
            defer { for wire in wires { wire.close() } }
            let library = try PipeLibrary()
            library.drains = false
            for wire in wires {
                wire.send()
                library.source.setInterest([.read, .write], of: wire.near)
            }
            library.onReport = { source, report in
                // At the first report, the service removes its interest in the second descriptor, and reduces the interest in the
                // third.
                if library.calls[0].reports.count > 1 { return }
                let others = wires.map(\.near).filter { $0 != report.descriptor }
                source.setInterest([], of: others[0])
                source.setInterest(.write, of: others[1])
                // After the interest was removed and set again, earlier reports can refer to another file.
                source.setInterest([], of: report.descriptor)
                source.setInterest(.read, of: report.descriptor)
            }
            try loop.add(library.source, forMode: .default)
            loop.pass()
            #expect(library.calls[0].reports.map(\.readiness) == [[.readable, .writable], .writable])
            loop.pass()
            #expect(library.calls[1].reports.count == 2)
            #expect(Set(library.calls[1].reports.map(\.readiness)) == [.readable, .writable])
            library.source.invalidate()
        }
    }

    @Test func `one call gets at most 64 reports, and the rest comes in the next pass`() throws {
        try onLoopThread { loop in
            let wires = try (0..<150).map { _ in try Wire.pipe() }
            defer { for wire in wires { wire.close() } }
            let library = try PipeLibrary()
            for wire in wires {
                wire.send()
                library.source.setInterest(.read, of: wire.near)
            }
            try loop.add(library.source, forMode: .default)
            while library.calls.flatMap(\.reports).count < 150 { loop.pass() }
            #expect(library.calls.allSatisfy { (1...64).contains($0.reports.count) })
            #expect(Set(library.calls.flatMap(\.descriptors)) == Set(wires.map(\.near)))
            // If nothing is read, no descriptor is reported again before all others were reported.
            library.drains = false
            library.calls = []
            for wire in wires { wire.send() }
            while library.calls.flatMap(\.reports).count < 300 { loop.pass() }
            let reported = library.calls.flatMap(\.reports).map(\.descriptor)
            #expect(Set(reported[..<150]).count == 150)
            library.source.invalidate()
        }
    }

    @Test func `reports are for the service only, and those that it leaves come again`() throws {
        try onLoopThread { loop in
            let wire = try Wire.pipe()
            defer { wire.close() }
            var (calls, takes) = (0, false)
            let source = try LibrarySource { source in
                calls += 1
                if takes { #expect(source.nextReport()?.says(.readable, of: wire.near) == true) }
            }
            source.setInterest(.read, of: wire.near)
            wire.send()
            try loop.add(source, forMode: .default)
            loop.pass()
            #expect(source.nextReport() == nil)
            takes = true
            loop.pass()
            #expect(calls == 2)
            #expect(source.nextReport() == nil)
            source.invalidate()
        }
    }

    @Test func `the changes of interest reach the kernel together, and those that change nothing do not`()
        throws
    {
        try onLoopThread { loop in
            let wires = try (0..<10).map { _ in try Wire.pipe() }
            defer { for wire in wires { wire.close() } }
            let library = try PipeLibrary()
            try loop.add(library.source, forMode: .default)
            loop.pass()
            func calls(_ change: () -> Void) -> Int {
                let before = Faults.watchCalls
                change()
                #expect(Faults.watchCalls == before)
                loop.pass()
                return Faults.watchCalls - before
            }
            func setAll(_ interest: DescriptorSource.Interest) {
                for wire in wires { library.source.setInterest(interest, of: wire.near) }
            }
            #expect(calls { setAll(.read) } == 10)
            #expect(calls { setAll(.read) } == 0)
            let flips = calls {
                for _ in 0..<10 {
                    for interest: DescriptorSource.Interest in [.write, .read] { setAll(interest) }
                }
            }
            #expect(flips == 0)
            #expect(calls { setAll([.read, .write]) } == 10)
            #expect(calls { setAll([]) } == 10)
            #expect(calls { setAll([]) } == 0)
            library.source.invalidate()
        }
    }

    // Guarantees: A descriptor that the kernel cannot watch is reported once as an error, not lost.
    @Test func `a descriptor that cannot be watched is reported as an error, once for each time it is set`()
        throws
    {
        try onLoopThread { loop in
            // Safe: the kernel only reads the path.
            let file = unsafe open("/proc/self/exe", O_RDONLY | O_CLOEXEC)
            defer { close(file) }
            let wire = try Wire.pipe()
            defer { wire.close() }
            let library = try PipeLibrary()
            library.drains = false
            try loop.add(library.source, forMode: .default)
            for descriptor in [file, -1] {
                for round in 1...2 {
                    library.source.setInterest(.read, of: descriptor)
                    #expect(
                        loop.run(in: .default, until: .hang, returnAfterSourceHandled: true)
                            == .handledSource)
                    for _ in 0..<3 { loop.pass() }
                    #expect(library.calls.count == round)
                    #expect(library.calls[round - 1].reports.count == 1)
                    #expect(library.calls[round - 1].reports[0].says(.error, of: descriptor))
                }
                library.calls = []
                library.source.setInterest([], of: descriptor)
            }
            Faults.refusingWatches(ENOSPC) {
                library.source.setInterest(.read, of: wire.near)
                loop.pass()
            }
            #expect(library.calls.map { $0.reports.map(\.readiness) } == [[.error]])
            library.source.setInterest(.read, of: wire.near)
            wire.send()
            loop.pass()
            #expect(library.calls.last?.reports.map(\.readiness) == [.readable])
            library.source.invalidate()
        }
    }
}
