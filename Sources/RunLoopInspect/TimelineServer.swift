import Inspection
import RunLoops
import Streams

/// A server of a web page that shows the recent events of a process to browsers on this machine.
///
/// Each time that a browser loads the page, the server gets a new recording from the process. The page's address contains a random
/// token, so that other users of the machine cannot load the page.
///
/// > Thread safety: only the thread that creates the server.
final class TimelineServer {
    let address: String
    private let inspector: RemoteInspector
    private let listener: Listener
    private let path: String
    /// The connections that have not asked with the token, in the order in which they came.
    ///
    /// Any user of the machine can connect. Those who have connected and say nothing must not keep out the others, so there is
    /// always room for one more: the oldest of these connections is closed.
    private var strangers: [Connection] = []
    /// The number of connections that have asked with the token and are being answered.
    private var answering = 0

    /// The maximum number of ``strangers``; a browser sends its request before that many others can connect.
    private static let mostStrangers = 128
    /// The maximum number of pages that are sent at a time.
    private static let mostAnswers = 16

    init(_ inspector: RemoteInspector, port: UInt16) throws {
        self.inspector = inspector
        var generator = SystemRandomNumberGenerator()
        let token = String(generator.next(), radix: 36) + String(generator.next(), radix: 36)
        path = "/\(token)"
        listener = try Listener(.tcp(host: "127.0.0.1", port: port))
        address = "http://127.0.0.1:\(listener.localAddress.port ?? port)\(path)"
        try RunLoop.current.add(listener, forMode: .default) { [self] accepted in serve(accepted) }
    }

    private func serve(_ accepted: consuming AcceptedSocket) {
        var options = Connection.Options()
        options.idleTimeout = .seconds(10)
        // The page of the largest recording takes about 30 MiB.
        options.outputLimit = 256 << 20
        let connection = Connection(accepted, options: options)
        var request: String?
        var isAnswered = false
        // The first line is the request line. An empty line ends the header of the request.
        connection.onFrame(.lines(upTo: 8_192)) { [self] connection, line in
            // Safe: the bytes are copied while they are valid.
            let text = unsafe line.withUnsafeBytes { unsafe String(decoding: $0, as: UTF8.self) }
            if request == nil { request = text }
            // Each connection gets one answer, whatever else it sends.
            guard text.isEmpty || text == "\r", !isAnswered else { return }
            isAnswered = true
            answer(request ?? "", connection)
        }
        connection.onEnd { [self] connection, _ in strangers.removeAll { $0 === connection } }
        do { try RunLoop.current.add(connection, forMode: .default) } catch { return connection.close() }
        strangers.append(connection)
        if strangers.count > TimelineServer.mostStrangers { strangers.removeFirst().reset() }
    }

    private func answer(_ request: String, _ connection: Connection) {
        let words = request.split(separator: " ")
        guard words.count >= 2, words[0] == "GET" else {
            return send("405 Method Not Allowed", "text/plain", Array("only GET\n".utf8), connection)
        }
        guard words[1] == path else {
            return send(
                "404 Not Found", "text/plain", Array("the address lacks the token\n".utf8), connection)
        }
        if answering >= TimelineServer.mostAnswers {
            return send(
                "503 Service Unavailable", "text/plain", Array("too many pages at once\n".utf8), connection)
        }
        answering += 1
        strangers.removeAll { $0 === connection }
        connection.onEnd { [self] _, _ in answering -= 1 }
        do {
            let page = try inspector.recording(as: .page)
            send("200 OK", "text/html; charset=utf-8", page, connection)
        } catch { send("502 Bad Gateway", "text/plain", Array("\(error)\n".utf8), connection) }
    }

    private func send(_ status: String, _ type: String, _ body: [UInt8], _ connection: Connection) {
        connection.write(
            "HTTP/1.1 \(status)\r\nContent-Type: \(type)\r\nContent-Length: \(body.count)\r\n"
                + "X-Content-Type-Options: nosniff\r\nContent-Security-Policy: sandbox allow-scripts\r\n"
                + "Cache-Control: no-store\r\nReferrer-Policy: no-referrer\r\nConnection: close\r\n\r\n")
        connection.write(body)
        connection.closeAfterWriting()
    }
}
