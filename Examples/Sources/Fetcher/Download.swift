import HTTPClients
import RunLoops

/// The download of a list, on the loop of this thread.
///
/// > Thread safety: the thread of the loop.
final class Download {
    /// The mode of the transfers.
    ///
    /// While the loop runs in this mode, no other input of the thread is served.
    private static let mode = RunLoop.Mode("org.example.fetcher.download")

    private let client: HTTPClient
    private let report: @Sendable (String) -> Void
    private var received = 0
    private var complete = 0
    private(set) var failed = 0

    /// Makes the client.
    ///
    /// - Parameters:
    ///   - parallel: The maximum number of connections to one host.
    ///   - report: Called with a line at the end of each transfer, and with the progress each second.
    /// - Throws: An error if the kernel refuses.
    init(parallel: Int, report: @escaping @Sendable (String) -> Void) throws {
        var options = HTTPClient.Options()
        options.connectionLimitPerHost = parallel
        options.bodyLimit = nil
        client = try HTTPClient(mode: Download.mode, options: options)
        self.report = report
    }

    /// Downloads all URLs, and returns when the last transfer has ended.
    func run(_ urls: [String]) {
        for url in urls { start(url) }
        let progress = Timer(timeInterval: .seconds(1), repeats: true) { [unowned self] _ in
            report("progress: \(complete + failed) of \(urls.count), \(received) bytes")
        }
        RunLoop.current.add(progress, forMode: Download.mode)
        // A run would not end with the last transfer, because the timer keeps the mode alive.
        while client.transferCount > 0 {
            RunLoop.current.run(in: Download.mode, until: .distantFuture, returnAfterSourceHandled: true)
        }
        progress.invalidate()
        client.invalidate()
        report("complete: \(complete), failed: \(failed), \(received) bytes")
    }

    private func start(_ url: String) {
        client.start(HTTPClient.Request(url)) { transfer in
            transfer.onData { [unowned self] _, bytes in received += bytes.byteCount }
            transfer.onEnd { [unowned self] transfer, error in
                let status = transfer.response?.status.code ?? 0
                if error == nil && (200..<300).contains(status) {
                    complete += 1
                    report("\(transfer.receivedByteCount) \(url)")
                } else {
                    failed += 1
                    report("failed: \(url): \(error.map { "\($0)" } ?? "status \(status)")")
                }
            }
        }
    }
}
