import HTTPServers
import RunLoops
import Streams
import TestExpectations
import TestSupport
import Testing

/// Modes of servers, and ends that other threads bring about.
@Suite struct ServerEndTests {
    /// An object for its owner's threads.
    ///
    /// `@unchecked`: the tests use only members that any thread may use.
    private final class Held<Value>: @unchecked Sendable {
        var value: Value?
    }

    @Test(arguments: 0..<20) func `another thread invalidates a server, and no handler begins after that`(
        round: Int
    ) throws {
        let (isOver, late) = (Shared(), Shared())
        let ends = Log<HTTPExchange.EndReason>()
        let held = Held<HTTPServer>()
        try withServer(
            setUp: { held.value = $0 },
            handler: { exchange in
                if isOver.count > 0 { late.increment() }
                exchange.onEnd { _, reason in ends.add(reason) }
                exchange.beginEvents()
            }
        ) { server in
            let clients = try (0..<3).map { _ in try Client(server.port) }
            for client in clients.prefix(2 + round % 2) { client.send(request("GET /")) }
            waitUntil("two have begun") { (try? server.perform { $0.statistics.requests }) ?? 0 >= 2 }
            held.value?.invalidate()
            isOver.increment()
            #expect(held.value?.isValid == false)
            held.value = nil
            for client in clients { _ = client.rest() }
            waitUntil("the ends are told") { ends.entries.count >= 2 }
            #expect(late.count == 0 && ends.entries.allSatisfy { $0 == .serverInvalidated })
        }
    }

    @Test
    func `a deinitializer on another thread may invalidate a server, and what its handlers hold is released`()
        throws
    {
        final class Owner: @unchecked Sendable {
            let server: HTTPServer
            init(_ server: HTTPServer) { self.server = server }
            deinit { server.invalidate() }
        }
        let released = Gate()
        let held = Held<Owner>()
        try withServer(
            setUp: { server in
                held.value = Owner(server)
                let parting = Parting { released.open() }
                server.onHeader { _ in parting.hold() }
            }
        ) { server in
            let client = try Client(server.port)
            client.send(request("GET /"))
            #expect(client.answer().body == "Hello, world!")
            held.value = nil
            #expect(released.wait())
            #expect(client.rest() == "")
        }
    }

    @Test func `another thread cancels an exchange`() throws {
        let held = Held<HTTPExchange>()
        let ends = Log<HTTPExchange.EndReason>()
        let gate = Gate()
        try withServer(handler: { exchange in
            exchange.onEnd { _, reason in ends.add(reason) }
            held.value = exchange
            gate.open()
        }) { server in
            let client = try Client(server.port)
            client.send(request("GET /"))
            #expect(gate.wait())
            held.value?.cancel()
            held.value = nil
            #expect(client.rest() == "")
            waitUntil("the end is told") { ends.entries == [.cancelled] }
        }
    }

    @Test func `a server is served in each of its modes, with its connections, and in none that it has left`()
        throws
    {
        try onLoopThread { loop in
            let (one, two) = (RunLoop.Mode("org.example.one"), RunLoop.Mode("org.example.two"))
            let server = try HTTPServer(.tcp(host: "127.0.0.1", port: 0))
            var count = 0
            try loop.add(server, forMode: one) { _ in count = -1_000 }
            let client = try Client(try #require(server.localAddress.port))
            // The second handler replaces the first in both modes.
            try loop.add(server, forMode: two) {
                count += 1
                $0.respond(.text("x"))
            }
            func serve(_ mode: RunLoop.Mode) {
                client.send(request("GET /"))
                let before = count
                while count == before { loop.run(in: mode, until: .now + .milliseconds(5)) }
                #expect(client.answer().body == "x")
            }
            for mode in [one, two, one] { serve(mode) }
            loop.remove(server, forMode: one)
            #expect(loop.run(in: one, until: .now + .milliseconds(20)) == .finished)
            serve(two)
            try loop.add(server, forMode: one) {
                count += 10
                $0.respond(.text("x"))
            }
            for mode in [one, two] { serve(mode) }
            #expect(count == 24)
            server.invalidate()
            #expect(loop.run(in: two, until: .now + .milliseconds(20)) == .finished)
        }
    }

    // Guarantees: No handler of a server is called inside another handler of the same server.
    @Test func `a run of the loop in a handler receives and sends, and calls no other handler`() throws {
        let order = Log<String>()
        try withServer(handler: { exchange in
            order.add("begin \(exchange.request.target)")
            if exchange.request.target == "/slow" {
                exchange.beginResponse(contentLength: 4)
                exchange.write("half")
                // The bytes leave, although the handler has not returned.
                let end = ContinuousClock.now + .milliseconds(200)
                while ContinuousClock.now < end { _ = RunLoop.current.run(in: .default, until: end) }
                exchange.endBody()
            } else {
                exchange.respond(.text("fast"))
            }
            order.add("end \(exchange.request.target)")
        }) { server in
            let (slow, fast) = (try Client(server.port), try Client(server.port))
            slow.send(request("GET /slow"))
            waitUntil("the handler runs") { !order.entries.isEmpty }
            fast.send(request("GET /fast") + request("GET /again"))
            #expect(slow.answer().body == "half")
            #expect(fast.answer().body == "fast")
            #expect(fast.answer().body == "fast")
            #expect(order.entries == ["/slow", "/fast", "/again"].flatMap { ["begin \($0)", "end \($0)"] })
        }
    }
}
