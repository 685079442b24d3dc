import CCurl
import RunLoops

/// The transfers of libcurl in one mode of the current loop.
///
/// The source holds the client until the source is invalidated.
final class CurlClient {
    final class Transfer {
        fileprivate(set) var received = 0
        fileprivate var easy: UnsafeMutableRawPointer?
        /// Called once, outside of libcurl, with nil if the transfer was cancelled.
        fileprivate let onEnd: (Transfer, CURLcode?) -> Void

        fileprivate init(_ onEnd: @escaping (Transfer, CURLcode?) -> Void) { self.onEnd = onEnd }
    }

    private(set) var source: LibrarySource?
    private var multi: OpaquePointer?
    private var transfers: [ObjectIdentifier: Transfer] = [:]
    private var ended: [() -> Void] = []
    private(set) var isInside = false

    private static let isReady = curl_global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK

    init(forMode mode: RunLoop.Mode) throws {
        precondition(CurlClient.isReady)
        let source = try LibrarySource(onInvalidation: { self.end() }) { _ in self.serve() }
        source.keepsModesAlive = false
        try RunLoop.current.add(source, forMode: mode)
        self.source = source
        multi = OpaquePointer(curl_multi_init())
        let context = Unmanaged.passUnretained(self).toOpaque()
        curl_shim_on_socket(
            handle,
            { _, socket, events, context, _ in
                var interest: DescriptorSource.Interest = []
                if events == CURL_POLL_IN || events == CURL_POLL_INOUT { interest.insert(.read) }
                if events == CURL_POLL_OUT || events == CURL_POLL_INOUT { interest.insert(.write) }
                client(context).source?.setInterest(interest, of: socket)
                return 0
            }, context)
        curl_shim_on_timer(
            handle,
            { _, milliseconds, context in
                client(context).source?.deadline =
                    milliseconds < 0 ? nil : .now + .milliseconds(milliseconds)
                return 0
            }, context)
    }

    private var handle: UnsafeMutableRawPointer? { multi.map { UnsafeMutableRawPointer($0) } }

    func start(
        _ url: String, timeout: Duration = .seconds(20), onEnd: @escaping (Transfer, CURLcode?) -> Void
    ) -> Transfer {
        let transfer = Transfer(onEnd)
        let easy = curl_easy_init()
        transfer.easy = easy
        transfers[ObjectIdentifier(transfer)] = transfer
        let context = Unmanaged.passUnretained(transfer).toOpaque()
        curl_shim_long(easy, CURLOPT_NOSIGNAL, 1)
        curl_shim_string(easy, CURLOPT_URL, url)
        curl_shim_string(easy, CURLOPT_PROXY, "")
        curl_shim_long(easy, CURLOPT_TIMEOUT_MS, Int(timeout / .milliseconds(1)))
        curl_shim_pointer(easy, CURLOPT_PRIVATE, context)
        curl_shim_on_data(
            easy,
            { _, size, count, context in
                Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue().received += size * count
                return size * count
            }, context)
        curl_multi_add_handle(handle, easy)
        source?.keepsModesAlive = true
        return transfer
    }

    /// Ends a transfer at once, and calls its handler with nil.
    func cancel(_ transfer: Transfer) {
        finish(transfer, nil)
        if !isInside { deliver() }
    }

    func close() { source?.invalidate() }

    private func finish(_ transfer: Transfer, _ code: CURLcode?) {
        guard let easy = transfer.easy else { return }
        transfer.easy = nil
        transfers[ObjectIdentifier(transfer)] = nil
        curl_multi_remove_handle(handle, easy)
        curl_easy_cleanup(easy)
        ended.append { transfer.onEnd(transfer, code) }
        if transfers.isEmpty { source?.keepsModesAlive = false }
    }

    private func serve() {
        guard let source else { return }
        isInside = true
        var running: CInt = 0
        while let report = source.nextReport() {
            var events: CInt = 0
            if !report.readiness.isDisjoint(with: [.readable, .hangUp]) { events |= CURL_CSELECT_IN }
            if report.readiness.contains(.writable) { events |= CURL_CSELECT_OUT }
            if report.readiness.contains(.error) { events |= CURL_CSELECT_ERR }
            curl_multi_socket_action(handle, report.descriptor, events, &running)
        }
        if source.deadlineHasPassed { curl_multi_socket_action(handle, -1, 0, &running) }
        var left: CInt = 0
        while let message = curl_multi_info_read(handle, &left) {
            guard message.pointee.msg == CURLMSG_DONE else { continue }
            let code = curl_shim_result(message)
            let context = curl_shim_private(message.pointee.easy_handle)
            finish(Unmanaged<Transfer>.fromOpaque(context!).takeUnretainedValue(), code)
        }
        isInside = false
        deliver()
    }

    private func deliver() { while !ended.isEmpty { ended.removeFirst()() } }

    private func end() {
        source = nil
        for transfer in transfers.values { finish(transfer, nil) }
        curl_multi_cleanup(handle)
        multi = nil
        deliver()
    }
}

/// Returns the client that libcurl has as its context.
private func client(_ context: UnsafeMutableRawPointer?) -> CurlClient {
    Unmanaged<CurlClient>.fromOpaque(context!).takeUnretainedValue()
}
