import Glibc
import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// Descriptors that are closed while a source watches them, and whose numbers are reused.
///
/// For every kind of file, the program ends with a message that names the source that was not invalidated. Each test has a process
/// of its own.
@Suite struct ReusedDescriptorTests {
    /// The kinds of files, one of which replaces another of the same kind.
    enum Kind: String, CaseIterable, Codable {
        case sockets, pipes, wakeUps, alarms, sets, fifos

        /// Opens two files of the kind; for a FIFO, one file that is opened twice.
        func two() throws -> (CInt, CInt) {
            switch self {
            case .sockets: (try Wire.sockets().near, try Wire.sockets().near)
            case .pipes: (try Wire.pipe().near, try Wire.pipe().near)
            case .wakeUps: (try copyOfWakeup(), try copyOfWakeup())
            case .alarms: (try copyOfAlarm(), try copyOfAlarm())
            case .sets: (try copyOfSet(), try copyOfSet())
            case .fifos: try openTwice()
            }
        }
    }

    /// The occasion on which the loop checks the source.
    enum Occasion: String, CaseIterable, Codable {
        case newSource, newSourceInAnotherMode, newSourceWithAnotherTrigger, regularFile, closedAgain, removal
        case invalidation, changeOfMode
    }

    /// One kind of file, on one occasion.
    struct Case: Codable {
        let kind: Kind
        let occasion: Occasion
    }

    /// All kinds of files on occasions on which the kernel does not report an error, and all occasions.
    static let cases =
        Kind.allCases.flatMap { kind in
            [Occasion.newSource, .changeOfMode].map { Case(kind: kind, occasion: $0) }
        } + Occasion.allCases.map { Case(kind: .sockets, occasion: $0) }

    // Guarantees: No source that is added later with the same number is taken for the old one.
    @Test(arguments: cases)
    func `a source whose descriptor's number is another file's is named, on each occasion`(
        which: Case
    ) async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            [which] in
            try warmUpRuntime()
            try onLoopThread { loop in
                let (old, new) = try which.kind.two()
                let source = watch(old)
                try loop.add(source, forMode: .default)
                #expect(dup2(new, old) == old)
                close(new)
                try bring(loop, to: source, which.occasion)
            }
        }
        expectNamed(result)
    }

    // Guarantees: A descriptor that is closed before its source has left the loop ends the program with a message that names the
    // source, at the latest when the source is removed.
    @Test func `a source that is taken out of its loop after its descriptor was closed is named`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                let source = watch(try Wire.pipe().near)
                try loop.add(source, forMode: .default)
                close(source.descriptor)
                loop.remove(source, forMode: .default)
            }
        }
        expectNamed(result)
    }

    // Guarantees: A descriptor that is closed before its source has left the loop ends the program with a message that names the
    // source, at the latest when the source is removed.
    @Test func `a source whose closed descriptor lives on in a copy is named when it is taken out`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                let source = watch(try Wire.pipe().near)
                try loop.add(source, forMode: .default)
                _ = dup(source.descriptor)
                close(source.descriptor)
                source.invalidate()
            }
        }
        expectNamed(result)
    }

    @Test
    func
        `a source whose closed descriptor is reported through a copy, while its number is a quiet file's, is named`()
        async
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try warmUpRuntime()
            try onLoopThread { loop in
                let (wire, other) = (try Wire.pipe(), try Wire.pipe())
                try loop.add(watch(wire.near), forMode: .default)
                _ = dup(wire.near)
                #expect(dup2(other.near, wire.near) == wire.near)
                wire.send()
                loop.run(in: .default, until: .hang)
            }
        }
        expectNamed(result)
    }

    @Test func `of two sources of a descriptor that was closed, the first one that is taken out is named`()
        async
    {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            try onLoopThread { loop in
                let wire = try Wire.pipe()
                let sources = [watch(wire.near), watch(wire.near)]
                for source in sources { try loop.add(source, forMode: .default) }
                close(wire.near)
                sources[0].invalidate()
            }
        }
        expectNamed(result)
    }

    @Test(arguments: Kind.allCases)
    func `a number whose sources were invalidated before it was closed is any file's`(kind: Kind) async {
        await #expect(processExitsWith: .success) { [kind] in
            try warmUpRuntime()
            try onLoopThread { loop in
                let (old, new) = try kind.two()
                for round in 0..<3 {
                    let sources = [watch(old), watch(old)]
                    for source in sources { try loop.add(source, forMode: .default) }
                    runInAnotherMode(loop)
                    loop.run(in: .default, until: .now)
                    loop.remove(sources[round % 2], forMode: .default)
                    try loop.add(sources[round % 2], forMode: .default)
                    for source in sources { source.invalidate() }
                    #expect(dup2(new, old) == old)
                }
            }
        }
    }
}

/// Makes a source whose handler must not be called.
private func watch(_ descriptor: CInt) -> DescriptorSource {
    DescriptorSource(descriptor, interest: .read, line: 4_711) { _, _ in Issue.record("it watches nothing") }
}

// Copies keep their files open.

private func copyOfWakeup() throws -> CInt {
    let wakeup = try Wakeup()
    let copy = dup(wakeup.descriptor)
    _ = consume wakeup
    return copy
}

private func copyOfAlarm() throws -> CInt {
    let alarm = try Alarm()
    let copy = dup(alarm.descriptor)
    _ = consume alarm
    return copy
}

private func copyOfSet() throws -> CInt {
    let set = try EpollSet()
    return withExtendedLifetime(set) { dup(set.descriptor) }
}

/// Opens one FIFO twice.
private func openTwice() throws -> (CInt, CInt) {
    let place = try ScratchDirectory()
    let path = place.path + "/fifo"
    // Safe, all: the kernel reads the path.
    #expect(unsafe mkfifo(path, 0o600) == 0)
    let flags = O_RDWR | O_NONBLOCK
    let both = unsafe (open(path, flags), open(path, flags))
    try place.remove()
    return both
}

/// Runs the loop in a mode that has no source.
private func runInAnotherMode(_ loop: RunLoop) {
    loop.perform(inModes: [.init("other")]) {}
    loop.run(in: .init("other"), until: .now)
}

/// Has the loop check a source whose descriptor's number belongs to another file.
private func bring(
    _ loop: RunLoop, to source: DescriptorSource, _ occasion: ReusedDescriptorTests.Occasion
) throws {
    let number = source.descriptor
    let new = DescriptorSource(number, interest: .read) { _, _ in }
    switch occasion {
    case .newSource: try loop.add(new, forMode: .default)
    case .newSourceInAnotherMode: try loop.add(new, forMode: .init("other"))
    case .newSourceWithAnotherTrigger:
        try loop.add(
            DescriptorSource(number, interest: .read, trigger: .edge) { _, _ in }, forMode: .default)
    case .regularFile:
        // Safe: the kernel reads a constant.
        let file = unsafe open("/proc/self/exe", O_RDONLY)
        #expect(dup2(file, number) == number)
        try loop.add(new, forMode: .default)
    case .closedAgain:
        close(number)
        try loop.add(new, forMode: .default)
    case .removal: loop.remove(source, forMode: .default)
    case .invalidation: source.invalidate()
    case .changeOfMode:
        loop.run(in: .default, until: .now)
        runInAnotherMode(loop)
        loop.run(in: .default, until: .now)
    }
}

/// Expects that a process has written the place of the old source.
private func expectNamed(_ result: ExitTest.Result?) {
    let message = result?.message ?? ""
    let says =
        "made at RunLoopsTests/ReusedDescriptorTests.swift:4711 was closed; invalidate the source first"
    #expect(message.contains(says), "\(message)")
}
