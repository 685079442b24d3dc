internal import Glibc
internal import RunLoops
internal import Synchronization

/// Atomic numbers that several processes share, in a file that all of them map.
///
/// `@safe`: the memory stays mapped as long as the process lives, and is accessed by atomic operations only.
@safe
public struct SharedMemory: Sendable {
    /// The number of shared numbers.
    public static let count = 4_096

    // `nonisolated(unsafe)`: all accesses are atomic.
    private nonisolated(unsafe) let numbers: UnsafeMutablePointer<Atomic<Int>>

    /// Maps a file, which is made, with zeros, if it does not exist.
    ///
    /// - Parameter path: The path of the file.
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
        // Safe: an atomic number has the layout of a number, and zero is a valid value.
        unsafe numbers = memory.assumingMemoryBound(to: Atomic<Int>.self)
    }

    /// Loads a number.
    ///
    /// - Parameter index: The index of the number.
    /// - Returns: The current value.
    public func load(_ index: Int) -> Int {
        unsafe numbers[index].load(ordering: .sequentiallyConsistent)
    }

    /// Adds to a number.
    ///
    /// - Parameters:
    ///   - difference: The number to add.
    ///   - index: The index of the number.
    /// - Returns: The value before the addition.
    @discardableResult
    public func add(_ difference: Int, at index: Int) -> Int {
        unsafe numbers[index].add(difference, ordering: .sequentiallyConsistent).oldValue
    }

    /// Waits at a barrier, without sleeping, until all processes have reached it.
    ///
    /// - Parameters:
    ///   - index: The index of the number that counts the arrivals.
    ///   - round: The number of earlier meetings at this barrier.
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
