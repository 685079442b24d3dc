internal import Dispatch
internal import HTTPClients
internal import RunLoops

/// Requests with handlers, which a loop's thread makes.
private final class RequestSeries {
    private let client: HTTPClient
    private let request: HTTPClient.Request
    private let done: (Int) -> Void
    private var unstarted: Int
    private var unended: Int
    private var received = 0

    init(_ client: HTTPClient, _ request: HTTPClient.Request, _ count: Int, _ done: @escaping (Int) -> Void) {
        self.client = client
        self.request = request
        self.done = done
        unstarted = count
        unended = count
    }

    func start() {
        unstarted -= 1
        client.start(request) { transfer in
            transfer.onData { _, bytes in self.received += bytes.byteCount }
            transfer.onEnd { _, _ in
                self.unended -= 1
                if self.unstarted > 0 { self.start() }
                if self.unended == 0 { self.done(self.received) }
            }
        }
    }
}

/// A client of this package.
final class LoopClient {
    private let fetcher: Fetcher
    private let parallel: Int

    /// The client and its requests, on the loop.
    private actor Fetcher {
        private let loop: RunLoop
        nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe loop.asUnownedSerialExecutor() }
        private let request: HTTPClient.Request
        private var client: HTTPClient?

        init(_ loop: RunLoop, _ url: String) {
            self.loop = loop
            request = HTTPClient.Request(url)
        }

        func open(_ connections: Int) throws {
            var options = HTTPClient.Options()
            options.connectionLimitPerHost = connections
            client = try HTTPClient(options: options)
        }

        func close() { client?.invalidate() }

        /// Makes requests with handlers, and calls `done` with the sum of received bytes after the last request.
        func begin(_ parallel: Int, _ requests: Int, _ done: @escaping @Sendable (Int) -> Void) {
            guard let client else { return done(-1) }
            let series = RequestSeries(client, request, requests, done)
            for _ in 0..<min(parallel, requests) { series.start() }
        }

        /// Makes requests one after another in a task.
        func fetch(_ requests: Int) async throws -> Int {
            var count = 0
            guard let client else { return 0 }
            for _ in 0..<requests {
                let response = try await client.response(for: request)
                for try await bytes in response.body { count += bytes.count }
            }
            return count
        }
    }

    init(_ loop: RunLoop, _ url: String, parallel: Int) throws {
        self.parallel = parallel
        fetcher = Fetcher(loop, url)
        try wait { [fetcher] in
            try await fetcher.open(parallel)
            return 0
        }
    }

    /// Runs `body` in a task, and waits for its result, a number of bytes.
    @discardableResult
    private func wait(_ body: @escaping @Sendable () async throws -> Int) throws -> Int {
        let counter = CallCounter()
        let isOver = DispatchSemaphore(value: 0)
        Task {
            do { counter.add(try await body()) } catch { counter.add(-1) }
            isOver.signal()
        }
        isOver.wait()
        return counter.count
    }

    private func check(_ received: Int, _ requests: Int) throws {
        if received != requests * 13 { throw Miscount(expected: requests * 13, found: received) }
    }

    func runHandlers(_ requests: Int) throws {
        let isOver = DispatchSemaphore(value: 0)
        let counter = CallCounter()
        try wait { [fetcher, parallel] in
            await fetcher.begin(parallel, requests) { received in
                counter.add(received)
                isOver.signal()
            }
            return 0
        }
        isOver.wait()
        try check(counter.count, requests)
    }

    func runTasks(_ requests: Int) throws {
        let received = try wait { [fetcher, parallel] in
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<parallel { group.addTask { try await fetcher.fetch(requests / parallel) } }
                return try await group.reduce(0, +)
            }
        }
        try check(received, requests)
    }

    func stop() {
        do {
            try wait { [fetcher] in
                await fetcher.close()
                return 0
            }
        } catch { fatalError("\(error)") }
    }
}
