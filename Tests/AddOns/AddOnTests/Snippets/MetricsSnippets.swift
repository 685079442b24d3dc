import Metrics
import MetricsTestKit
import RunLoops
import RunLoopsMetrics
import Testing

extension AddOns {
    @Suite struct MetricsSnippets {
        @Test func `metrics are updated by themselves, and before a scrape`() async throws {
            let factory = TestMetrics()
            try await withMetricsFactory(factory) {
                let recorder = try FlightRecorder()
                let metrics = try RunLoopMetrics(every: .seconds(10), recorder: recorder)
                func page() -> String { factory.counters.map(\.label).joined(separator: "\n") }
                func scrape() async -> String {
                    await metrics.update()
                    return page()
                }
                #expect(await scrape().contains("run_loop_passes_total"))
                metrics.stop()
                recorder.stop()
            }
        }
    }
}
