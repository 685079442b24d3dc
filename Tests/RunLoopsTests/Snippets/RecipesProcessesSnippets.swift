import Glibc
import RunLoops
import TestSupport
import Testing

/// The code of the article "Recipes for processes".
@Suite struct RecipesProcessesSnippets {
    struct Configuration {
        let text: String

        struct Failure: Error {}

        init(_ text: String) throws {
            if text.isEmpty { throw Failure() }
            self.text = text
        }
    }

    @Test func `a signal has the configuration read again`() async {
        await #expect(processExitsWith: .success) { try RecipesProcessesSnippets.reloadOnSignals() }
    }

    private static func reloadOnSignals() throws {
        let print = Printed()
        try onLoopThread { loop in
            var texts = ["second", "", "fourth"]
            func readConfiguration() throws -> Configuration { try Configuration(texts.removeFirst()) }

            var configuration = try Configuration("first")
            let reload = try SignalSource(SIGHUP) { _, _ in
                do { configuration = try readConfiguration() } catch {
                    print("the configuration stays as it is:", error)
                }
            }
            try RunLoop.current.add(reload, forMode: .common)
            for expected in ["second", "second", "fourth"] {
                Signals.send(SIGHUP)
                loop.run(mode: .default, before: .hang)
                #expect(configuration.text == expected)
            }
        }
        #expect(print.lines == ["the configuration stays as it is: Failure()"])
    }

    func run(
        _ command: String, onOutput: @escaping ([UInt8]) -> Void,
        onEnd: @escaping (ProcessSource.Ending) -> Void
    ) throws {
        let loop = RunLoop.current
        let pipe = try OwnedDescriptor.pipe()
        try pipe.readingEnd.setNonBlocking()

        var actions = unsafe posix_spawn_file_actions_t()
        unsafe posix_spawn_file_actions_init(&actions)
        defer { unsafe posix_spawn_file_actions_destroy(&actions) }
        // The child's copy is not close-on-exec. Ours is closed when this function returns, or the output would never end.
        unsafe posix_spawn_file_actions_adddup2(&actions, pipe.writingEnd.descriptor, STDOUT_FILENO)
        var words: [UnsafeMutablePointer<CChar>?] = unsafe [
            strdup("/bin/sh"), strdup("-c"), strdup(command), nil,
        ]
        var variables = unsafe [strdup("PATH=/usr/bin:/bin"), nil]
        defer { unsafe (words + variables).forEach { unsafe free($0) } }
        var child: pid_t = 0
        let code = unsafe posix_spawn(&child, "/bin/sh", &actions, nil, &words, &variables)
        if code != 0 { throw SystemError(call: "posix_spawn", code: code) }

        let output = DescriptorSource(
            pipe.readingEnd, interest: .read
        ) { source, _ in
            var buffer: [UInt8] = Array(repeating: 0, count: 16_384)
            let count = unsafe read(source.descriptor, &buffer, buffer.count)
            if count > 0 { return onOutput(Array(buffer[..<count])) }
            if count == 0 || errno != EAGAIN { source.invalidate() }
        }
        try loop.add(output, forMode: .common)
        try loop.add(ProcessSource(child) { _, ending in onEnd(ending) }, forMode: .common)
    }

    @Test func `a command's output and its end are two inputs`() throws {
        try onLoopThread { loop in
            var output: [UInt8] = []
            var endings: [ProcessSource.Ending] = []
            try run(
                "printf hello; seq 10000; exit 3", onOutput: { output += $0 }, onEnd: { endings.append($0) })
            // The run finishes when both sources have been removed.
            loop.run()
            let expected = "hello" + (1...10_000).map { "\($0)\n" }.joined()
            #expect(String(decoding: output, as: UTF8.self) == expected)
            #expect(endings == [.exited(3)])
        }
    }
}
