import Glibc
import RunLoops
import Testing

/// The code of the article "Performance".
@Suite struct PerformanceSnippets {
    @Test func `a loop with a processor of its own spins`() throws {
        func makeFeed() throws -> RunLoopThread {
            let feed = try RunLoopThread(name: "feed", processors: [1])
            feed.runLoop.perform { RunLoop.current.waitPolicy = .spin(for: .microseconds(50)) }
            return feed
        }
        do {
            let feed = try makeFeed()
            let policy = try feed.runLoop.performAndWait { RunLoop.current.waitPolicy }
            #expect(policy == .spin(for: .microseconds(50)))
            feed.stop()
            feed.join()
        } catch let error as SystemError {
            // The machine has no second processor that the test can use.
            #expect(error.code == EINVAL)
        }
    }
}
