import RunLoops
import TestSupport
import Testing

/// The program of the README.
@Suite struct ReadmeSnippets {
    @Test func `the program receives from its worker, fires its timer, and leaves no thread`() throws {
        let print = Printed()
        // On a busy machine the worker can fail to send within 350 ms. Then the program is run again.
        for _ in 1...20 where !print.lines.contains("from the worker: hello") {
            try onLoopThread { _ in
                let words = Port<String>()
                RunLoop.current.add(words, forMode: .default) { word in print("from the worker:", word) }
                Timer.scheduledTimer(withTimeInterval: .milliseconds(100), repeats: true) { _ in
                    print("tick")
                }

                let worker = try RunLoopThread(name: "worker")
                worker.runLoop.perform { try? words.send("hello") }
                RunLoop.current.run(until: .now + .milliseconds(350))
                worker.stop()
                worker.join()

                #expect(!worker.runLoop.perform {})
            }
        }
        #expect(print.lines.contains("tick"))
        #expect(print.lines.filter { $0 == "from the worker: hello" }.count == 1)
    }
}
