import FoundationEssentials
import HTTPServers
import Inspection
import NoteStorage
import RunLoops
import ServerSupport

/// The answers of the service to each request.
///
/// > Thread safety: the thread of the server's loop.
final class Routes {
    private let store: NoteStore
    /// The loop of a thread that is allowed to wait for the other loops.
    private let reports: RunLoop
    private let subscribers = Subscribers()

    init(_ store: NoteStore, _ reports: RunLoop) {
        self.store = store
        self.reports = reports
    }

    /// Opens the database, before all requests.
    func open(_ path: String) {
        let store = store
        Task {
            do { try await store.open(path) } catch { log("the database \(path) is not open: \(error)") }
        }
    }

    func answer(_ exchange: HTTPExchange) {
        switch (exchange.request.method, exchange.request.segments) {
        case (.get, [""]):
            exchange.respond(.html(Page.text))
        case (.get, ["notes"]): list(exchange)
        case (.post, ["notes"]): add(exchange)
        case (.get, ["events"]): subscribe(exchange)
        case (.get, ["health"]): tellHealth(exchange)
        case (.get, ["metrics"]): tellMetrics(exchange)
        case (_, ["notes"]):
            exchange.respond(
                HTTPServer.Response(status: .methodNotAllowed, headerFields: [.allow: "GET, POST"]))
        default: exchange.respond(.status(.notFound))
        }
    }

    private func list(_ exchange: HTTPExchange) {
        exchange.respond { [store] _ in
            await Routes.json(.ok) { try await store.latest(100) }
        }
    }

    private func add(_ exchange: HTTPExchange) {
        let text = String(decoding: exchange.request.body, as: UTF8.self)
        if text.isEmpty {
            return _ = exchange.respond(.text("a note has a text\n", status: .badRequest))
        }
        let server = RunLoop.current
        let subscribers = subscribers
        exchange.respond { [store] _ in
            await Routes.json(.created) {
                let note = try await store.add(text)
                server.perform { subscribers.send([note]) }
                return [note]
            }
        }
    }

    /// Sends the last notes, and then each new note.
    private func subscribe(_ exchange: HTTPExchange) {
        subscribers.add(exchange)
        let server = RunLoop.current
        let (store, subscribers, number) = (store, subscribers, ObjectIdentifier(exchange))
        Task {
            guard let notes = try? await store.latest(10) else { return }
            server.perform { subscribers.send(notes, only: number) }
        }
    }

    private func tellHealth(_ exchange: HTTPExchange) {
        exchange.respond { [store] _ in
            do {
                _ = try await store.latest(1)
                return .text("healthy\n")
            } catch { return .text("the database fails: \(error)\n", status: .serviceUnavailable) }
        }
    }

    private func tellMetrics(_ exchange: HTTPExchange) {
        let responder = exchange.makeResponder()
        // A report waits for the loops of the process, so it is made on a separate thread.
        reports.perform {
            let text = ProcessReport().prometheusText
            responder.respond(
                HTTPServer.Response(
                    status: .ok, headerFields: [.contentType: "text/plain; version=0.0.4"],
                    body: Array(text.utf8)))
        }
    }

    /// Ends the streams of events, which would never end otherwise.
    ///
    /// Browsers then connect again.
    func endEvents() { subscribers.end() }

    private static func json(
        _ status: HTTPResponse.Status, _ notes: () async throws -> [Note]
    ) async -> HTTPServer.Response {
        do {
            let bytes = [UInt8](try JSONEncoder().encode(try await notes()))
            return .json(bytes, status: status)
        } catch {
            log("a request failed: \(error)")
            return .text("the database fails\n", status: .internalServerError)
        }
    }
}

/// The browsers that read events.
///
/// `@unchecked Sendable` is safe because only the thread of the server's loop uses the object.
final class Subscribers: @unchecked Sendable {
    private var all: [ObjectIdentifier: HTTPExchange] = [:]

    func add(_ exchange: HTTPExchange) {
        exchange.onEnd { [unowned self] exchange, _ in all[ObjectIdentifier(exchange)] = nil }
        if exchange.beginEvents() { all[ObjectIdentifier(exchange)] = exchange }
    }

    /// Sends notes to all subscribers, or to one.
    func send(_ notes: [Note], only one: ObjectIdentifier? = nil) {
        for (number, exchange) in all where one == nil || one == number {
            for note in notes { exchange.send(HTTPServer.Event(note.text, id: "\(note.id)")) }
        }
    }

    func end() { for exchange in all.values { exchange.endBody() } }
}

/// The page that shows notes.
enum Page {
    static let text = """
        <!doctype html><meta charset="utf-8"><title>waiting</title>
        <h1>Notes</h1><ul></ul>
        <script>
        new EventSource("/events").onmessage = event => {
            const item = document.createElement("li")
            item.textContent = event.data
            document.querySelector("ul").append(item)
            document.title = document.querySelectorAll("li").length + " notes"
            console.log(document.title + ", the last one: " + item.textContent)
        }
        </script>
        """
}
