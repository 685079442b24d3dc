import RunLoops
import TestSupport
import Testing

/// The code of the landing page and of "One pass".
@Suite struct OverviewSnippets {
    @Test func `a message is received and a timer ends the run`() throws {
        let print = Printed()
        try onLoopThread { _ in
            let words = Port<String>()
            RunLoop.current.add(words, forMode: .default) { word in print("received", word) }
            Timer.scheduledTimer(withTimeInterval: .milliseconds(50), repeats: false) { _ in
                RunLoop.current.stop()
            }
            try words.send("hello")
            RunLoop.current.run()
        }
        #expect(print.lines == ["received hello"])
    }

    @Test func `an empty mode is finished and a deadline that has passed makes one pass`() throws {
        let print = Printed()
        try onLoopThread { _ in
            // A port keeps the mode alive after the timer has fired.
            RunLoop.current.add(Port<Void>(), forMode: .default) {}
            let loop = RunLoop.current
            let idle = loop.run(in: .init("com.example.empty"))
            loop.add(Timer(timeInterval: .zero, repeats: false) { _ in print("fired") }, forMode: .default)
            let polled = loop.run(in: .default, until: .distantPast)
            print(idle, polled)
        }
        #expect(print.lines == ["fired", "finished timedOut"])
    }

    @Test func `an input leaves all its modes`() throws {
        try onLoopThread { loop in
            let refresh = Timer(timeInterval: .seconds(1), repeats: true) { _ in }
            let search = RunLoop.Mode("com.example.search")
            loop.add(refresh, forMode: .default)
            loop.add(refresh, forMode: search)
            loop.remove(refresh)
            #expect(loop.run(in: .default) == .finished)
            #expect(loop.run(in: search) == .finished)
            #expect(refresh.isValid)
        }
    }
}
