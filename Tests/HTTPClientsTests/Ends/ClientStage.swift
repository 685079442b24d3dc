import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import HTTPClients
@testable import Streams

/// The states of a transfer in which another thread ends it.
enum TransferStage: CaseIterable {
    /// The transfer waits for a connection that another transfer uses.
    case waiting
    /// The server has not answered.
    case sent
    /// A handler has been called with the header, and bytes wait for their handler.
    case receiving
    /// The transfer is paused, and its response is complete.
    case pausedAtEnd
    /// The body of the request is being sent, and more is to be written.
    case uploading
    /// Nobody has answered the question for the name of the host.
    case looksUp
}

/// A client on a thread with a loop, and one transfer whose handlers are recorded.
///
/// `@unchecked`: the client and the transfer are used on the loop's thread, but for their ends.
final class ClientStage: @unchecked Sendable {
    let thread: RunLoopThread
    let server: Server
    /// The calls of handlers, and for the end its reason and whether it came on the loop's thread.
    let calls = Log<String>()
    /// For each release of what the handlers hold, whether it came on the loop's thread.
    let releases = Log<Bool>()
    private var heldClient: HTTPClient?
    private var startedTransfer: HTTPTransfer?
    private weak var set: TransferSet?

    /// True if the client has given back everything, on the thread of its loop.
    var hasGivenBack: Bool {
        get throws { try thread.runLoop.performAndWait { [self] in set == nil } }
    }
    private let hasMore: Gate

    init(_ stage: TransferStage, onData: @escaping @Sendable (HTTPTransfer) -> Void = { _ in }) throws {
        let hasMore = Gate()
        self.hasMore = hasMore
        server = try Server { exchange in
            switch exchange.path {
            case "/never": exchange.waitForEnd()
            case "/whole": try exchange.answer("200 OK", "", [UInt8](repeating: 1, count: 1_000))
            default:
                try exchange.send("HTTP/1.1 200 OK\r\nContent-Length: 400000\r\n\r\nfirst")
                _ = hasMore.wait()
                try exchange.send([UInt8](repeating: 1, count: 100_000))
                exchange.waitForEnd()
            }
        }
        thread = try RunLoopThread(name: "client")
        try thread.runLoop.performAndWait { [self] in try start(stage, onData) }
        switch stage {
        case .receiving:
            waitUntil("the header is delivered") { self.calls.entries.starts(with: ["response", "data"]) }
        case .pausedAtEnd: waitUntil("the body has arrived") { self.received == 1_000 }
        case .sent, .uploading: waitUntil("it is sent") { self.server.requests.entries.count == 1 }
        case .waiting: try pass()
        case .looksUp: waitUntil("the name is looked up") { Faults.heldNames == 1 }
        }
    }

    var client: HTTPClient {
        guard let heldClient else { preconditionFailure("the client was released") }
        return heldClient
    }

    var transfer: HTTPTransfer {
        guard let startedTransfer else { preconditionFailure("the transfer was not started") }
        return startedTransfer
    }

    private var received: Int {
        (try? thread.runLoop.performAndWait { [self] in transfer.receivedByteCount }) ?? 0
    }

    private func start(_ stage: TransferStage, _ onData: @escaping @Sendable (HTTPTransfer) -> Void) throws {
        let client = try HTTPClient(options: .local { $0.connectionLimitPerHost = 1 })
        if stage == .waiting { client.start(HTTPClient.Request(server.url("/never"))) { _ in } }
        var request = HTTPClient.Request(server.url("/"))
        switch stage {
        case .waiting, .receiving: break
        case .sent: request.url = server.url("/never")
        case .pausedAtEnd: request.url = server.url("/whole")
        case .uploading:
            request = HTTPClient.Request(
                server.url("/never"), method: .put, body: .stream(contentLength: nil))
        case .looksUp: request.url = "http://transfer.held.test/"
        }
        let transfer = client.start(request) { record($0, onData) }
        if stage == .pausedAtEnd { transfer.isReadingPaused = true }
        if stage == .uploading { transfer.write("piece") }
        (heldClient, startedTransfer, set) = (client, transfer, client.transferSet)
    }

    private func record(_ transfer: HTTPTransfer, _ onData: @escaping @Sendable (HTTPTransfer) -> Void) {
        let (loop, releases, calls) = (RunLoop.current, releases, calls)
        let parting = Parting { releases.add(loop.isCurrent) }
        transfer.onResponse { _, _ in
            parting.hold()
            calls.add("response")
        }
        transfer.onData { transfer, _ in
            parting.hold()
            calls.add("data")
            onData(transfer)
        }
        transfer.onDrained { _ in
            parting.hold()
            calls.add("drained")
        }
        transfer.onEnd { _, error in
            parting.hold()
            calls.add("\(error?.reason.description ?? "complete") \(loop.isCurrent)")
        }
    }

    /// Lets the server send more while a block of the loop runs, and calls a closure on another thread before the block returns.
    func whileMoreWaits(_ body: @escaping @Sendable () -> Void) throws {
        let (isBlocked, isOver) = (Gate(), Gate())
        thread.runLoop.perform {
            isBlocked.open()
            _ = isOver.wait()
        }
        defer { isOver.open() }
        try #require(isBlocked.wait())
        hasMore.open()
        try BareThread(body).join()
    }

    func letMoreCome() { hasMore.open() }

    func pass() throws { for _ in 0..<3 { try thread.runLoop.performAndWait {} } }

    /// Releases the client on the thread of the caller.
    func releaseClient() { heldClient = nil }

    /// Resumes the transfer if it is open.
    func unpause() throws { try thread.runLoop.performAndWait { [self] in transfer.isReadingPaused = false } }

    func stop() {
        thread.stop()
        thread.join()
        hasMore.open()
        server.stop()
        // The resolver asks a second time for a name that was not found.
        waitUntil("no name is looked up") {
            Faults.releaseNames()
            return NameResolver.shared.threadCounts.all == 0
        }
    }
}
