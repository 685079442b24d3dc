internal import CThreadControl

/// Operations through sockets, with both sides in this process.
enum NetworkCosts {
    /// Posts `count` notifications through a hub, each after the observer has got the one before.
    static func post(_ count: Int) throws {
        let processor = Int32(bench_processor())
        let channel = try HubChannel(1, PostPlace(hub: processor, others: processor))
        for _ in 0..<count { try channel.post(1) }
        try channel.end()
    }

    /// Sends `count` requests to a server of connections, over one connection.
    ///
    /// - Parameters:
    ///   - count: The number of requests.
    ///   - depth: The number of requests under way.
    /// - Throws: ``Miscount`` if an answer was lost or wrong.
    static func ask(_ count: Int, depth: Int) throws {
        let server = try StreamsPingServer(0)
        let load = try PingLoad(capacity: 1)
        try load.connect(to: server, 1)
        try load.run(1, depth: depth, requests: count)
        try load.disconnect()
        load.end()
        server.stop()
    }
}
