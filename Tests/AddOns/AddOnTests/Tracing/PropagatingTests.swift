import InMemoryTracing
import RunLoops
import RunLoopsTracing
import Testing
import Tracing

extension AddOns {
    @Suite struct PropagatingTests {
        private static let tracer = {
            let tracer = InMemoryTracer()
            InstrumentationSystem.bootstrap(tracer)
            return tracer
        }()

        /// Runs a body in a span, and returns the spans that end in the body, in the order in which they end.
        private func spans(_ body: () async throws -> Void) async throws -> [FinishedInMemorySpan] {
            let tracer = Self.tracer
            tracer.clearFinishedSpans()
            try await withSpan("parent") { _ in try await body() }
            return tracer.popFinishedSpans()
        }

        @Test func `a span in a block is a child of the span around the call`() async throws {
            try await withThread("traced") { thread in
                let spans = try await spans {
                    thread.runLoop.perform(propagating: .current) { withSpan("block") { _ in } }
                    thread.runLoop.perform(after: .zero, propagating: .current) {
                        withSpan("delayed") { _ in }
                    }
                    let sum = try await thread.runLoop.performAndWait(propagating: .current) {
                        withSpan("awaited") { _ in 1 + 1 }
                    }
                    #expect(sum == 2)
                    await withCheckedContinuation { done in
                        thread.runLoop.perform(after: .milliseconds(1)) { done.resume() }
                    }
                }
                let parent = try #require(spans.last)
                #expect(parent.operationName == "parent")
                #expect(Set(spans.dropLast().map(\.operationName)) == ["block", "delayed", "awaited"])
                for child in spans.dropLast() {
                    #expect(child.parentSpanID == parent.spanID && child.traceID == parent.traceID)
                }
            }
        }

        @Test func `a thread that waits for a block passes its context on, too`() async throws {
            try await withThread("waiting") { waiting in
                try await withThread("traced") { traced in
                    let spans = try await spans {
                        try await waiting.runLoop.performAndWait(propagating: .current) {
                            try traced.runLoop.performAndWait(propagating: .current) {
                                withSpan("waited for") { _ in }
                            }
                        }
                    }
                    #expect(spans.map(\.operationName) == ["waited for", "parent"])
                    #expect(spans.first?.parentSpanID == spans.last?.spanID)
                }
            }
        }

        // Guarantees: A block has the context that was passed with it, and does not leave the context to any block after it.
        @Test func `a context ends with its block, and blocks that carry none have none`() async throws {
            try await withThread("alternating") { thread in
                let spans = try await spans {
                    let loop = thread.runLoop
                    for _ in 0..<10 {
                        loop.perform(propagating: .current) { withSpan("with") { _ in } }
                        loop.perform { withSpan("without") { _ in } }
                        loop.perform(propagating: nil) { withSpan("without") { _ in } }
                    }
                    try await loop.performAndWait {}
                }
                let parent = try #require(spans.last)
                #expect(spans.count { $0.operationName == "with" && $0.parentSpanID == parent.spanID } == 10)
                #expect(spans.count { $0.operationName == "without" && $0.parentSpanID == nil } == 20)
            }
        }

        @Test func `a block that runs the loop keeps its context to itself where a block names its own`()
            async throws
        {
            try await withThread("nested") { thread in
                let spans = try await spans {
                    let loop = thread.runLoop
                    try await loop.performAndWait(propagating: .current) {
                        loop.perform(propagating: nil) {
                            withSpan("inside") { _ in }
                            loop.stop()
                        }
                        loop.run(in: .default)
                        withSpan("after") { _ in }
                    }
                }
                let parent = try #require(spans.last)
                #expect(spans.map(\.operationName) == ["inside", "after", "parent"])
                #expect(spans[0].parentSpanID == nil && spans[1].parentSpanID == parent.spanID)
            }
        }

        @Test func `errors, modes, deadlines and ended loops are those of the calls without a context`()
            async throws
        {
            struct Failure: Error {}
            let ended = try await withThread("modes") { thread in
                await #expect(throws: Failure.self) {
                    try await thread.runLoop.performAndWait(propagating: .current) { throw Failure() }
                }
                let mode = RunLoop.Mode("later")
                let order = try await thread.runLoop.performAndWait {
                    let loop = RunLoop.current
                    let log = Log()
                    loop.perform(propagating: .topLevel, inModes: [mode]) { log.add("later") }
                    loop.perform(propagating: .topLevel) { log.add("common") }
                    loop.run(until: .now + .milliseconds(1))
                    _ = loop.run(mode: mode, before: .now + .milliseconds(1))
                    return log
                }
                #expect(order.entries == ["common", "later"])
                _ = try await withThread("impatient") { other in
                    try await other.runLoop.performAndWait {
                        #expect(throws: PerformError.self) {
                            try thread.runLoop.performAndWait(
                                propagating: .current, inModes: [mode], before: .now + .milliseconds(5)
                            ) {}
                        }
                    }
                }
                return thread.runLoop
            }
            #expect(!ended.perform(propagating: .current) {})
        }
    }
}
