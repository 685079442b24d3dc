import Hummingbird
import Logging
import RunLoops
import RunLoopsNIO
import ServiceLifecycle

import class Foundation.ProcessInfo
import func Glibc.fflush

/// Counts on the thread of a run loop, as a library would that must stay there.
actor Counter: RunLoopActor {
    nonisolated let runLoop: RunLoop
    private var count = 0

    init(on runLoop: RunLoop) { self.runLoop = runLoop }

    func next() -> Int {
        count += 1
        return count
    }
}

@main struct HummingbirdOnALoop {
    static func main() async throws {
        let thread = try RunLoopThread(name: "web")
        let server = LoopServer(
            thread: thread, port: Int(ProcessInfo.processInfo.environment["PORT"] ?? "") ?? 7008,
            logger: Logger(label: "web"), responder: router(thread.runLoop).buildResponder()
        ) { port in
            print("listening at 127.0.0.1:\(port)")
            fflush(nil)
        }
        let group = ServiceGroup(
            services: [server], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "services"))
        try await group.run()
        thread.stop()
        await thread.join()
    }

    private static func router(_ loop: RunLoop) -> Router<BasicRequestContext> {
        let counter = Counter(on: loop)
        let router = Router()
        router.get("count") { _, _ in
            "call \(await counter.next()) on the loop's thread: \(loop.isCurrent)\n"
        }
        router.post("length") { request, _ in
            let body = try await request.body.collect(upTo: 1 << 20)
            return "\(body.readableBytes) bytes\n"
        }
        return router
    }
}
