import RunLoops
import TestSupport
import Testing

/// The program of the README.
@Suite struct ReadmeSnippets {
    @Test func `the program hears its other thread and its timer`() throws {
        let print = Printed()
        try onLoopThread { _ in
            let words = Port<String>()
            RunLoop.current.add(words, forMode: .default) { word in print("from another thread:", word) }
            Timer.scheduledTimer(withTimeInterval: .milliseconds(100), repeats: true) { _ in print("tick") }

            let worker = try RunLoopThread(name: "worker")
            worker.runLoop.perform { try? words.send("hello") }
            RunLoop.current.run(until: .now + .milliseconds(350))

            // The worker may come late on a busy machine.
            while !print.lines.contains("from another thread: hello") {
                RunLoop.current.run(until: .now + .milliseconds(10))
            }
            worker.stop()
        }
        #expect(print.lines.contains("tick"))
        #expect(print.lines.filter { $0 == "from another thread: hello" }.count == 1)
    }
}
