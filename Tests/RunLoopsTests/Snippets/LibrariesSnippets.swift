import CLines
import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// A question, and the handler of its answer.
private final class LineQuestion {
    let client: LineClient
    let answer: (String?) -> Void

    init(_ client: LineClient, _ answer: @escaping (String?) -> Void) {
        self.client = client
        self.answer = answer
    }
}

/// Returns the adapter that the library has as its context.
///
/// Safe: the library calls back only while the adapter uses the library.
private func client(_ context: UnsafeMutableRawPointer) -> LineClient {
    unsafe Unmanaged<LineClient>.fromOpaque(context).takeUnretainedValue()
}

/// The adapter of the article.
///
/// `@safe`: the adapter owns its library from `init` to `end`.
@safe
final class LineClient {
    private var lines: OpaquePointer?
    private var source: LibrarySource?
    private var answers: [() -> Void] = []

    init(forMode mode: RunLoop.Mode) throws {
        // The source holds the client until the source is invalidated.
        let source = try LibrarySource(onInvalidation: { self.end() }) { _ in self.serve() }
        try RunLoop.current.add(source, forMode: mode)
        self.source = source
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        unsafe lines = lines_new(
            { descriptor, events, context in unsafe client(context).watch(descriptor, events) },
            { milliseconds, context in unsafe client(context).setDeadline(milliseconds) }, context)
    }

    private func watch(_ descriptor: CInt, _ events: CInt) {
        var interest: DescriptorSource.Interest = []
        if events & LINES_READ != 0 { interest.insert(.read) }
        if events & LINES_WRITE != 0 { interest.insert(.write) }
        source?.setInterest(interest, of: descriptor)
    }

    private func setDeadline(_ milliseconds: Int) {
        source?.deadline = milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
    }

    private func serve() {
        guard let source, let lines = unsafe lines else { return }
        while let report = source.nextReport() {
            var events: CInt = 0
            if !report.readiness.isDisjoint(with: [.readable, .hangUp, .error]) { events |= LINES_READ }
            if report.readiness.contains(.writable) { events |= LINES_WRITE }
            unsafe lines_process(lines, report.descriptor, events)
        }
        if source.deadlineHasPassed { unsafe lines_process(lines, -1, 0) }
        deliver()
    }

    func ask(
        _ text: String, over socket: CInt, timeout: Duration, answer: @escaping (String?) -> Void
    ) {
        guard let lines = unsafe lines else { return answer(nil) }
        let question = unsafe Unmanaged.passRetained(LineQuestion(self, answer)).toOpaque()
        let milliseconds = Int(timeout / .milliseconds(1))
        unsafe lines_ask(
            lines, socket, text, milliseconds,
            { status, text, data in
                let question = unsafe Unmanaged<LineQuestion>.fromOpaque(data).takeRetainedValue()
                let text = status == LINES_ANSWERED ? unsafe String(cString: text) : nil
                question.client.answers.append { question.answer(text) }
            }, question)
    }

    private func deliver() { while !answers.isEmpty { answers.removeFirst()() } }

    func close() { source?.invalidate() }

    private func end() {
        guard let ended = unsafe lines else { return }
        unsafe lines = nil
        source = nil
        unsafe lines_free(ended)
        deliver()
    }
}

/// The code of the article "A C library on a loop".
@Suite struct LibrariesSnippets {
    /// Starts a thread that reads a line at the far end of each pair, and answers it.
    private func startAnswering(_ wires: [Wire]) throws -> BareThread {
        for wire in wires { try #require(fcntl(wire.far, F_SETFL, 0) == 0) }
        return try BareThread {
            for wire in wires {
                var question: [UInt8] = []
                var byte: UInt8 = 0
                // Safe, both: the kernel fills and reads local bytes.
                while unsafe read(wire.far, &byte, 1) == 1, byte != 10 { question.append(byte) }
                let answer = Array("answer to ".utf8) + question + [10]
                _ = unsafe write(wire.far, answer, answer.count)
            }
        }
    }

    @Test func `an adapter asks several questions at once, and a handler asks another one`() throws {
        try onLoopThread { loop in
            let wires = try (0..<20).map { _ in try Wire.sockets() }
            let sockets = wires.map { $0.giveAwayNear() }
            let client = try LineClient(forMode: .default)
            var answers: [String?] = []
            // The handler of one answer asks the last question.
            for number in 0..<19 {
                client.ask("question \(number)", over: sockets[number], timeout: .seconds(300)) { answer in
                    answers.append(answer)
                    if number != 7 { return }
                    client.ask("question 19", over: sockets[19], timeout: .seconds(300)) {
                        answers.append($0)
                    }
                }
            }
            let server = try startAnswering(wires)
            while answers.count < 20 {
                #expect(
                    loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            }
            server.join()
            #expect(Set(answers) == Set((0..<20).map { "answer to question \($0)" }))
            client.close()
            #expect(loop.run(in: .default, until: .hang) == .finished)
            for wire in wires { wire.close() }
        }
    }

    @Test func `a question without an answer times out, and one whose peer has gone ends`() throws {
        try onLoopThread { loop in
            let wires = [try Wire.sockets(), try Wire.sockets(), try Wire.sockets()]
            let sockets = wires.map { $0.giveAwayNear() }
            let client = try LineClient(forMode: .default)
            var ended: [Int] = []
            let start = ContinuousClock.now
            for (number, timeout) in [Duration.milliseconds(20), .zero, .seconds(300)].enumerated() {
                client.ask("anything", over: sockets[number], timeout: timeout) { answer in
                    #expect(answer == nil)
                    if number == 0 { #expect(.now - start >= timeout) }
                    ended.append(number)
                }
            }
            wires[2].close(wires[2].far)
            while ended.count < 3 {
                #expect(
                    loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource)
            }
            #expect(ended.last == 0)
            for wire in wires.prefix(2) { #expect(wire.nearCloses()) }
            client.close()
            for wire in wires { wire.close() }
        }
    }

    @Test func `a handler may close the client, and the end of the thread closes it`() throws {
        for closes in [true, false] {
            let wires = [try Wire.sockets(), try Wire.sockets()]
            let log = Log<String>()
            let released = Gate()
            try onLoopThread { loop in
                let client = try LineClient(forMode: .default)
                let canary = Canary(released)
                for (number, wire) in wires.enumerated() {
                    let timeout: Duration = number == 0 ? .zero : .seconds(300)
                    client.ask("anything", over: wire.giveAwayNear(), timeout: timeout) { answer in
                        canary.sing()
                        log.add("\(number) ended")
                        if number == 0 && closes { client.close() }
                    }
                }
                while log.entries.isEmpty {
                    #expect(
                        loop.run(in: .default, until: .hang, returnAfterSourceHandled: true) == .handledSource
                    )
                }
            }
            for wire in wires {
                #expect(wire.nearCloses())
                wire.close()
            }
            #expect(released.wait())
            #expect(log.entries == ["0 ended", "1 ended"])
        }
    }
}
