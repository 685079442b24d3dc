internal import Glibc
internal import RunLoops
internal import Streams

extension TransferSet {
    /// Looks up a name that libcurl has asked for, and then begins the request again.
    func lookUp(_ kind: NameLookUps.Kind, for transfer: HTTPTransfer) throws(HTTPClientError) {
        releaseHandle(transfer)
        guard let target = target(kind, of: transfer) else {
            throw .unresolved("the host or the proxy is not in ASCII, or malformed")
        }
        // With the name that was looked up, libcurl has asked for another one.
        guard case .notNeeded = transfer.contents.hop.names[kind] else { throw .unresolved(target.host) }
        transfer.contents.hop.names.begin()
        if let answer = NameResolver.answer(host: target.host, port: target.port) {
            return try took(answer, for: target, kind, transfer)
        }
        var limit = transfer.contents.hop.names.connectTimeLeft(of: options.connectLimit)
        transfer.contents.hop.timeoutBeforeRequest = .connect
        if let deadline = transfer.contents.hop.deadline, deadline - .now < limit {
            limit = deadline - .now
            transfer.contents.hop.timeoutBeforeRequest = .total
        }
        let lookUp = NameResolver.shared.resolve(
            host: target.host, port: target.port, on: loop, inModes: [mode], within: max(.zero, limit)
        ) { [self] answer in
            guard transfer.contents.transferSet === self else { return }
            do throws(HTTPClientError) { try took(answer, for: target, kind, transfer) } catch {
                finish(transfer, error)
            }
        }
        transfer.contents.hop.names[kind] = .underWay(lookUp)
    }

    /// Begins a request again with the addresses of a name.
    private func took(
        _ answer: NameAnswer, for target: URLParts, _ kind: NameLookUps.Kind, _ transfer: HTTPTransfer
    ) throws(HTTPClientError) {
        switch answer {
        case .success(let addresses):
            let isNumeric = SocketAddress(host: target.host, port: target.port) != nil
            let texts = addresses.compactMap { address in
                address.host.map { $0.utf8.contains(UInt8(ascii: ":")) ? "[\($0)]" : $0 }
            }
            // The plus sign makes libcurl forget the addresses after a minute.
            transfer.contents.hop.names[kind] =
                isNumeric
                ? .numeric : .found("+\(target.host):\(target.port):\(texts.joined(separator: ","))")
            takeTurn(transfer)
        case .failure(.timedOut): throw .timedOut(transfer.contents.hop.timeoutBeforeRequest)
        case .failure(.unresolved(let error)): throw .unresolved("\(error)")
        case .failure(.failed(let error)): throw .unresolved("\(target.host): \(error)")
        }
    }

    private func target(_ kind: NameLookUps.Kind, of transfer: HTTPTransfer) -> URLParts? {
        let url = transfer.contents.hop.url
        switch (kind, options.proxy) {
        case (.host, _): return URLParts(url)
        case (.proxy, .url(let proxy)): return URLParts(proxy: proxy)
        case (.proxy, .none): return nil
        case (.proxy, .environment):
            // libcurl reads the same variables in the same order. A header of a request could set HTTP_PROXY in a CGI program.
            let variables =
                RequestLines.isSecure(url)
                ? ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
                : ["http_proxy", "all_proxy", "ALL_PROXY"]
            let values = variables.lazy.compactMap { name -> String? in
                // Safe: the string is copied before anything can change the environment.
                unsafe getenv(name).map { unsafe String(cString: $0) }
            }
            return values.first { !$0.isEmpty }.flatMap { URLParts(proxy: $0) }
        }
    }
}
