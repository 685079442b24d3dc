import RunLoops
import TestSupport
import Testing

/// The program of the article "Getting started".
@Suite struct GettingStartedSnippets {
    @Test func `the program's three steps do what the article says`() throws {
        let print = Printed()
        try onLoopThread { _ in
            var ticks = 0
            Timer.scheduledTimer(withTimeInterval: .milliseconds(100), repeats: true) { timer in
                ticks += 1
                print("tick", ticks)
                if ticks == 3 {
                    timer.invalidate()
                    RunLoop.current.stop()
                }
            }
            RunLoop.current.run()

            let worker = try RunLoopThread(name: "worker")
            worker.runLoop.perform { print("now on:", RunLoop.current.name) }
            let sum = try worker.runLoop.performAndWait { (1...100).reduce(0, +) }
            print("the sum is", sum)

            let words = Port<String>()
            RunLoop.current.add(words, forMode: .default) { word in
                print("received", word)
                if word == "done" { RunLoop.current.stop() }
            }
            worker.runLoop.perform {
                for word in ["one", "two", "done"] { try? words.send(word) }
            }
            RunLoop.current.run()
            worker.stop()
            worker.join()
        }
        #expect(
            print.lines == [
                "tick 1", "tick 2", "tick 3", "now on: worker", "the sum is 5050", "received one",
                "received two",
                "received done",
            ])
    }
}
