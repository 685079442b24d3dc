import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// A library that opens, copies and closes pipes at random, on a real loop.
@Suite struct LibrarySourceStressTests {
    /// A pipe whose reading end the library can watch.
    private struct Pipe {
        let near: CInt
        let far: CInt
        var isWanted = false
        /// True if the reading end is closed and the library has not removed its interest.
        var isClosed = false
        var isCopied = false
        var hasData = false
    }

    /// A library, and the reports that its source must deliver.
    private final class Library {
        private let library: PipeLibrary
        private let loop: RunLoop
        private var random: SplitMix64
        private var pipes: [Pipe] = []
        private var copies: [CInt] = []
        private(set) var reports = 0
        private(set) var closedUnseen = 0

        init(_ loop: RunLoop, seed: UInt64) throws {
            self.loop = loop
            random = SplitMix64(seed: seed)
            library = try PipeLibrary()
            try loop.add(library.source, forMode: .default)
        }

        func step() throws {
            guard let index = pipes.indices.randomElement(using: &random),
                Int.random(in: 0..<8, using: &random) > 0
            else {
                if pipes.count < 12 { try open() }
                return
            }
            switch Int.random(in: 0..<8, using: &random) {
            case 0, 1: want(index, .read)
            case 2: want(index, [])
            case 3: close(index)
            case 4: copy(index)
            case 5, 6: send(index)
            default: pass()
            }
        }

        private func open() throws {
            let wire = try Wire.pipe()
            let near = wire.giveAwayNear()
            for end in [near, wire.far] { letGo(near: end) }
            pipes.append(Pipe(near: near, far: wire.far))
        }

        /// Removes the interest in a number that is reused, if the library has not noticed that the number was closed.
        private func letGo(near number: CInt) {
            guard let old = pipes.firstIndex(where: { $0.isClosed && $0.near == number }) else { return }
            library.source.setInterest([], of: number)
            Glibc.close(pipes.remove(at: old).far)
        }

        private func want(_ index: Int, _ interest: DescriptorSource.Interest) {
            if pipes[index].isClosed && !interest.isEmpty { return }
            library.source.setInterest(interest, of: pipes[index].near)
            pipes[index].isWanted = !interest.isEmpty
            if pipes[index].isClosed { Glibc.close(pipes.remove(at: index).far) }
        }

        private func close(_ index: Int) {
            if pipes[index].isClosed { return }
            let isLetGo = Bool.random(using: &random)
            if isLetGo { library.source.setInterest([], of: pipes[index].near) }
            Glibc.close(pipes[index].near)
            if isLetGo || !pipes[index].isWanted {
                Glibc.close(pipes.remove(at: index).far)
            } else {
                closedUnseen += 1
                pipes[index].isClosed = true
            }
        }

        private func copy(_ index: Int) {
            if pipes[index].isClosed || copies.count > 100 { return }
            let copy = dup(pipes[index].near)
            pipes[index].isCopied = true
            copies.append(copy)
            letGo(near: copy)
        }

        private func send(_ index: Int) {
            var byte: UInt8 = 1
            // Safe: the kernel reads a local variable of one byte.
            if unsafe write(pipes[index].far, &byte, 1) == 1 { pipes[index].hasData = true }
        }

        /// Expects reports for exactly the ready descriptors of interest, in two passes because the set can be rebuilt.
        func pass() {
            library.calls = []
            for _ in 0..<2 { loop.pass() }
            let closed = Set(pipes.filter(\.isClosed).map(\.near))
            // A number that was closed after its interest was set is reported as an error, once.
            let reports = library.calls.flatMap(\.reports)
                .filter { $0.readiness != .error || !closed.contains($0.descriptor) }
            let reported = Set(reports.map(\.descriptor))
            let owed = pipes.indices.filter { pipes[$0].isWanted && pipes[$0].hasData && !pipes[$0].isClosed }
            let missing = Set(owed.map { pipes[$0].near }).subtracting(reported)
            #expect(missing.isEmpty, "\(missing) of \(pipes)")
            let tolerated = pipes.filter { $0.isClosed && $0.isCopied }.map(\.near)
            let surplus = reported.subtracting(owed.map { pipes[$0].near }).subtracting(tolerated)
            #expect(surplus.isEmpty, "\(surplus) of \(pipes): \(library.calls)")
            for index in owed { pipes[index].hasData = false }
            self.reports += owed.count
        }

        func end() {
            pass()
            library.source.invalidate()
            for pipe in pipes {
                if !pipe.isClosed { Glibc.close(pipe.near) }
                Glibc.close(pipe.far)
            }
            for copy in copies { Glibc.close(copy) }
            #expect(loop.run(in: .default, until: .hang) == .finished)
        }
    }

    @Test(arguments: 1...8) func `what is wanted and ready is reported, and nothing else`(seed: Int) async {
        // In a process of its own, in which no other test gets the closed numbers.
        await #expect(processExitsWith: .success) { [seed] in
            try warmUpRuntime()
            // A write to a pipe without readers raises the signal.
            signal(SIGPIPE, SIG_IGN)
            try onLoopThread { loop in
                let library = try Library(loop, seed: UInt64(seed))
                for _ in 0..<3_000 { try library.step() }
                #expect(library.reports > 50)
                #expect(library.closedUnseen > 20)
                library.end()
            }
        }
    }
}
