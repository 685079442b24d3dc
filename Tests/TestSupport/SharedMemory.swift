internal import Glibc
internal import RunLoops
internal import Synchronization

/// Numbers that several processes share, each its own atomic: a file that all of them map.
///
/// `@safe`: the memory is mapped for as long as the process lives, and touched by atomic operations only.
@safe
public struct SharedMemory: Sendable {
    /// The number of numbers.
    public static let count = 4_096

    // `nonisolated(unsafe)`: all that is done with it is atomic.
    private nonisolated(unsafe) let numbers: UnsafeMutablePointer<Atomic<Int>>

    /// Maps a file, which is made, with zeros, if it is not there.
    ///
    /// - Parameter path: Where it is.
    /// - Throws: `SystemError` if the system refuses.
    public init(_ path: String) throws {
        let size = SharedMemory.count * MemoryLayout<Int>.stride
        // Safe: the kernel reads the string.
        let descriptor = unsafe open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        if descriptor < 0 { throw SystemError(call: "open", code: errno) }
        defer { close(descriptor) }
        if ftruncate(descriptor, size) != 0 { throw SystemError(call: "ftruncate", code: errno) }
        let memory = unsafe mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0)
        guard let memory = unsafe memory, unsafe memory != MAP_FAILED else {
            throw SystemError(call: "mmap", code: errno)
        }
        // Safe: an atomic number is laid out as a number, and zero is a valid one.
        unsafe numbers = memory.assumingMemoryBound(to: Atomic<Int>.self)
    }

    /// A number as it is now.
    ///
    /// - Parameter index: Which.
    /// - Returns: The number.
    public func load(_ index: Int) -> Int {
        unsafe numbers[index].load(ordering: .sequentiallyConsistent)
    }

    /// Adds to a number.
    ///
    /// - Parameters:
    ///   - difference: The number to add.
    ///   - index: Which number.
    /// - Returns: The number before.
    @discardableResult
    public func add(_ difference: Int, at index: Int) -> Int {
        unsafe numbers[index].add(difference, ordering: .sequentiallyConsistent).oldValue
    }

    /// Waits at a barrier until all have come, without sleeping: they go on together.
    ///
    /// - Parameters:
    ///   - index: The number that counts them.
    ///   - round: The number of times that they have met here before.
    ///   - parties: The number of processes.
    /// - Throws: ``TestHangs``.
    public func meet(at index: Int, round: Int, parties: Int = 2) throws {
        add(1, at: index)
        let deadline = ContinuousClock.Instant.hang
        while load(index) < (round + 1) * parties {
            if ContinuousClock.now > deadline { throw TestHangs() }
            sched_yield()
        }
    }
}
