internal import CThreadControl
internal import CWeb
internal import CYardsticks

/// Measures TLS: full handshakes one after another, and bytes in bulk, with the same client and the same cipher suite.
///
/// Read the ratios to `openssl s_server` first.
struct SecureStreams: Measurement {
    private enum Peer: String, CaseIterable {
        case streams, openssl

        var title: String { self == .streams ? "Connection" : "openssl s_server" }
    }

    private enum Work: CaseIterable {
        case handshakes, sending, receiving

        var title: String {
            switch self {
            case .handshakes: "hand-shakes a second"
            case .sending: "MB/s sent by the server"
            case .receiving: "MB/s received by the server"
            }
        }
    }

    private struct Key: Hashable {
        let work: Work
        let peer: Peer
    }

    private var files: SecureFiles?
    private var servers: [Peer: any SecureServer] = [:]
    private var settings: OpaquePointer?
    private let thread = WorkerThread()
    private var rates = RoundFigures<Key>()
    private(set) var stage = ""

    mutating func measure(round: Int, in session: Session) throws {
        if servers.isEmpty {
            let files = try SecureFiles()
            self.files = files
            servers = [.streams: try StreamsSecureServer(files), .openssl: try OpenSSLServer(files)]
            settings = bench_tls_create(files.certificate)
        }
        for work in Work.allCases {
            for peer in Peer.allCases.turns(of: round) { try measure(work, peer, round, session) }
        }
    }

    private mutating func measure(_ work: Work, _ peer: Peer, _ round: Int, _ session: Session) throws {
        stage = "\(peer.title), \(work.title)"
        guard let server = servers[peer], let settings = Handle(settings) else {
            throw Miscount(expected: 1, found: 0)
        }
        let processors = session.machine.processors
        server.number.pin(to: [processors[0]])
        if let openssl = server as? OpenSSLServer { openssl.receiver.pin(to: [processors[0]]) }
        thread.number.pin(to: [processors[min(1, processors.count - 1)]])
        let count = session.isQuick ? 20 : 50
        let (download, upload) = (server.downloadPort, server.uploadPort)
        let succeeded = CallCounter()
        let start = bench_now()
        thread.runAndWait {
            let isGood =
                switch work {
                case .handshakes: bench_tls_connect(settings.pointer, download, Int32(count))
                // The answer of s_server is the file without a header.
                case .sending: bench_tls_download(settings.pointer, download) == Int64(SecureFiles.size)
                case .receiving: bench_tls_upload(settings.pointer, upload, Int64(SecureFiles.size))
                }
            if isGood { succeeded.increment() }
        }
        let seconds = Double(bench_now() - start) / 1e9
        if succeeded.count == 0 { throw Miscount(expected: 1, found: 0) }
        if round < 0 { return }
        let amount = work == .handshakes ? Double(count) : Double(SecureFiles.size) / 1e6
        rates.add(amount / seconds, of: Key(work: work, peer: peer))
    }

    /// Safe because only the thread uses the settings, and the caller waits for the thread.
    private struct Handle: @unchecked Sendable {
        let pointer: OpaquePointer

        init?(_ pointer: OpaquePointer?) {
            guard let pointer else { return nil }
            self.pointer = pointer
        }
    }

    mutating func end(in session: Session) throws {
        for server in servers.values { server.stop() }
        servers = [:]
        if let settings { bench_tls_destroy(settings) }
        settings = nil
        thread.end()
        try files?.remove()
    }

    var remarks: [String] {
        [
            "Two servers with one certificate (P-256), and one client in C, which speaks TLS 1.3 with AES-128-GCM and X25519. A "
                + "full hand-shake ends with the notices of both sides. The client's own work counts in both.",
            "`openssl s_server` is a process, which sends a file and discards what it receives; our server is a thread.",
        ]
    }

    var tables: [Table] {
        Work.allCases.map { work in
            var table = Table(
                title: "TLS, \(work.title)",
                columns: [.ranged("rate", "rate", .whole), .ranged("÷ s_server", "ratio", .ratio)])
            table.rows = Peer.allCases.map { peer in
                let key = Key(work: work, peer: peer)
                var row = Table.Row(name: peer.title)
                row.add(rates.spread(key), as: "rate")
                row.add(ratio(work, peer), as: "ratio")
                return row
            }
            return table
        }
    }

    private func ratio(_ work: Work, _ peer: Peer = .streams) -> Spread? {
        rates.ratio(Key(work: work, peer: peer), to: Key(work: work, peer: .openssl))
    }

    func targets(on machine: Machine) -> [TargetRow] {
        Work.allCases.map { work in
            TargetRow(
                "B-TLS", "\(work.title), Connection ÷ openssl s_server", .atLeast(0.8), figure: ratio(work))
        }
    }
}
