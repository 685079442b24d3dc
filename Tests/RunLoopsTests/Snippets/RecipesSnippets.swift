import RunLoops
import Testing

/// The code of the article "Recipes", except the server, which is in the tests of Streams.
@Suite struct RecipesSnippets {
    private struct Job: Sendable {}

    @Test func `a job that finds a full port is refused, and not waited for`() throws {
        let jobs = Port<Job>(queueLimit: 64)

        func submit(_ job: Job) throws -> Bool {
            do {
                try jobs.send(job, before: .distantPast)
                return true
            } catch let error where error.reason == .timedOut {
                return false
            }
        }

        for _ in 0..<64 { #expect(try submit(Job())) }
        #expect(try !submit(Job()))
        jobs.invalidate()
        #expect(throws: PortSendError<Job>.self) { try submit(Job()) }
    }
}
