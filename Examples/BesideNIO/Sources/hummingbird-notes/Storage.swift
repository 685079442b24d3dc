import NoteStorage
import RunLoops
import RunLoopsLifecycle
import ServiceLifecycle

/// The database of the notes as a service: a thread with a run loop, and an actor on that loop.
struct Storage: Service {
    private let thread: RunLoopThread
    let store: NoteStore

    /// Starts the thread, and opens the database on it.
    init(_ path: String) async throws {
        thread = try RunLoopThread(name: "storage")
        store = NoteStore(on: thread.runLoop)
        try await store.open(path)
    }

    /// Closes the database when the service group shuts down, and returns when the thread has ended.
    func run() async throws {
        try? await gracefulShutdown()
        await store.close()
        thread.stop()
        await thread.run()
    }
}
