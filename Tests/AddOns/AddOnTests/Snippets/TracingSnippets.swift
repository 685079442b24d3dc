import RunLoops
import RunLoopsTracing
import Testing
import Tracing

extension AddOns {
    @Suite struct TracingSnippets {
        @Test func `a block and a message carry a context`() async throws {
            struct Name: ServiceContextKey { typealias Value = String }
            let log = Log()
            @Sendable func note(_ word: String) {
                log.add("\(word) for \(ServiceContext.current?[Name.self] ?? "none")")
            }
            func reserve() { note("reservation") }
            @Sendable func charge() { note("charge") }
            struct Order: Sendable {
                let number: Int
                let context: ServiceContext?
            }
            @Sendable func accept(_ order: Order) { note("order \(order.number)") }
            let orders = Port<Order>()
            try await withThread("worker") { worker in
                try await worker.runLoop.performAndWait {
                    let loop = RunLoop.current
                    loop.add(orders, forMode: .default) { order in
                        ServiceContext.withValue(order.context) {
                            withSpan("order") { _ in accept(order) }
                        }
                    }
                }
                var context = ServiceContext.topLevel
                context[Name.self] = "Ada"
                try ServiceContext.withValue(context) {
                    withSpan("checkout") { _ in
                        reserve()
                        worker.runLoop.perform(propagating: .current) {
                            withSpan("charge") { _ in charge() }
                        }
                    }
                    try orders.send(Order(number: 1, context: .current))
                }
                try await eventually { log.entries.count == 3 }
                #expect(Set(log.entries) == ["reservation for Ada", "charge for Ada", "order 1 for Ada"])
            }
        }
    }
}
