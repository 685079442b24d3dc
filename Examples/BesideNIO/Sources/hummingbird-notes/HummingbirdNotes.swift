import Foundation
import Hummingbird
import Logging
import NoteStorage
import ServiceLifecycle

/// A JSON service of notes.
///
/// Hummingbird answers requests on the threads of SwiftNIO. The database belongs to one thread with a run loop.
@main struct HummingbirdNotes {
    /// The body of a request that adds a note.
    struct NewNote: Decodable {
        let text: String
    }

    static func main() async throws {
        let variables = ProcessInfo.processInfo.environment
        let storage = try await Storage(variables["DATABASE"] ?? "notes.db")
        let port = Int(variables["PORT"] ?? "") ?? 7005
        let application = Application(
            router: router(storage.store),
            configuration: .init(address: .hostname("127.0.0.1", port: port)),
            onServerRunning: { announce($0.localAddress?.port ?? port) },
            logger: Logger(label: "notes"))
        // The group shuts down from the last service to the first, so the database outlives the last request.
        let group = ServiceGroup(
            services: [storage, application], gracefulShutdownSignals: [.sigterm, .sigint],
            logger: Logger(label: "services"))
        try await group.run()
    }

    /// Prints the address, and flushes the output for a reader at the other end of a pipe.
    private static func announce(_ port: Int) {
        print("listening at 127.0.0.1:\(port)")
        fflush(nil)
    }

    private static func router(_ store: NoteStore) -> Router<BasicRequestContext> {
        let router = Router()
        router.get("notes") { _, _ in
            try await store.latest(100)
        }
        router.post("notes") { request, context in
            let new = try await request.decode(as: NewNote.self, context: context)
            return EditedResponse(status: .created, response: try await store.add(new.text))
        }
        router.get("health") { _, _ in
            _ = try await store.latest(1)
            return "healthy\n"
        }
        return router
    }
}

extension Note: @retroactive ResponseEncodable {}
