import CSQLite
public import RunLoops

/// A note of the services.
public struct Note: Codable, Sendable {
    /// The number that SQLite has given the note.
    public let id: Int64

    /// The text, as it was added.
    public let text: String
}

/// An error of SQLite.
public struct DatabaseError: Error, CustomStringConvertible {
    /// SQLite's own message.
    public let description: String
}

/// The notes in an SQLite database, which one thread uses.
///
/// The actor lives on the loop of that thread, so its methods run on that thread only.
public actor NoteStore: RunLoopActor {
    /// The loop of the thread that uses the database.
    public nonisolated let runLoop: RunLoop
    private var database: OpaquePointer?

    /// Makes a store that runs on a loop, with a closed database.
    public init(on runLoop: RunLoop) { self.runLoop = runLoop }

    /// Opens the database, and makes its table.
    public func open(_ path: String) throws {
        let flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX
        if sqlite3_open_v2(path, &database, flags, nil) != SQLITE_OK { throw error() }
        // Two processes use the file while the new process takes over from the old one.
        sqlite3_busy_timeout(database, 5_000)
        _ = try rows("PRAGMA journal_mode = WAL")
        _ = try rows("CREATE TABLE IF NOT EXISTS notes (id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    }

    /// Closes the database, after which the other methods throw.
    public func close() {
        sqlite3_close_v2(database)
        database = nil
    }

    /// Adds a note.
    public func add(_ text: String) throws -> Note {
        _ = try rows("INSERT INTO notes (text) VALUES (?)", text)
        return Note(id: sqlite3_last_insert_rowid(database), text: text)
    }

    /// Returns the last notes, oldest first.
    public func latest(_ count: Int) throws -> [Note] {
        try rows("SELECT id, text FROM (SELECT * FROM notes ORDER BY id DESC LIMIT \(count)) ORDER BY id")
    }

    private func rows(_ statement: String, _ parameter: String? = nil) throws -> [Note] {
        var prepared: OpaquePointer?
        if sqlite3_prepare_v2(database, statement, -1, &prepared, nil) != SQLITE_OK { throw error() }
        defer { sqlite3_finalize(prepared) }
        // SQLite copies the text during the call.
        let copies = unsafeBitCast(-1, to: sqlite3_destructor_type.self)
        if let parameter { sqlite3_bind_text(prepared, 1, parameter, -1, copies) }
        var notes: [Note] = []
        while true {
            switch sqlite3_step(prepared) {
            case SQLITE_ROW where sqlite3_column_count(prepared) == 2:
                let text = sqlite3_column_text(prepared, 1).map { String(cString: $0) } ?? ""
                notes.append(Note(id: sqlite3_column_int64(prepared, 0), text: text))
            case SQLITE_ROW: continue
            case SQLITE_DONE: return notes
            default: throw error()
            }
        }
    }

    private func error() -> DatabaseError {
        DatabaseError(description: sqlite3_errmsg(database).map { String(cString: $0) } ?? "no database")
    }
}
