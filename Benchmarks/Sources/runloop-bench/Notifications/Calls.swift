/// Counts the calls of observers, on cache lines of its own.
final class Calls: @unchecked Sendable {
    // Safe because one thread at a time posts to what counts here, and it has been waited for, or is the
    // same, when the count is read.
    private let state: UnsafeMutablePointer<Int>

    init() {
        state = UnsafeMutableRawPointer.allocate(byteCount: 256, alignment: 128)
            .bindMemory(to: Int.self, capacity: 1)
        state.initialize(to: 0)
    }

    deinit { UnsafeMutableRawPointer(state).deallocate() }

    /// How many there were.
    var count: Int { state.pointee }

    /// One more.
    @inline(__always)
    func note() { state.pointee &+= 1 }
}
