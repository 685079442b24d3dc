import RunLoops
import TestSupport
import Testing

/// The code of the article "Coming from Dispatch, SwiftNIO and libuv".
@Suite struct OtherLoopsSnippets {
    @Test func `a serial queue becomes a thread with a loop`() throws {
        let (print, isDone) = (Printed(), Gate())
        // let queue = DispatchQueue(label: "database")
        let database = try RunLoopThread(name: "database")

        // queue.async { print("later") }
        database.runLoop.perform { print("later") }

        // let rows = queue.sync { 42 }
        let rows = try database.runLoop.performAndWait { 42 }

        // queue.asyncAfter(deadline: .now() + 0.1) { print("after a while") }
        let delayed = database.runLoop.perform(after: .milliseconds(100)) { print("after a while") }

        // item.cancel()
        delayed.cancel()

        database.runLoop.perform { isDone.open() }
        #expect(isDone.wait())
        #expect(rows == 42)
        #expect(print.lines == ["later"])
        database.stop()
    }

    @Test func `a timer of libuv becomes a timer of the loop`() throws {
        try onLoopThread { _ in
            let print = Printed()
            var ticks = 0
            // uv_timer_init(loop, &timer); uv_timer_start(&timer, tick, 10, 10);
            let timer = Timer.scheduledTimer(withTimeInterval: .milliseconds(10), repeats: true) { timer in
                ticks += 1
                // uv_timer_stop(&timer);
                if ticks == 3 {
                    timer.invalidate()
                    // uv_stop(loop);
                    RunLoop.current.stop()
                }
            }

            // uv_run(loop, UV_RUN_DEFAULT);
            RunLoop.current.run()
            print(ticks, timer.isValid)
            #expect(print.lines == ["3 false"])
        }
    }
}
