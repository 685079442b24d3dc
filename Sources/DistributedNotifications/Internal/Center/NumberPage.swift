internal import CRunLoops
internal import Glibc

/// A memory file in which a poster stores the number of its last post.
///
/// A hub can read the number even after the poster's process was killed.
///
/// `@unchecked Sendable`: the number is stored only under the lock of the center, and the memory belongs to this object until the
/// object is destroyed.
@safe
final class NumberPage: @unchecked Sendable {
    /// The descriptor of the memory file; -1 if the file could not be made.
    ///
    /// If a poster without such a file is killed, a hub does not know the number of the poster's last post.
    let descriptor: CInt
    private let number: UnsafeMutablePointer<UInt64>?

    init() {
        var mapped: UnsafeMutablePointer<UInt64>?
        // Safe, here and below: the memory is mapped until `deinit`.
        descriptor = unsafe runloops_number_file_open(&mapped)
        unsafe number = mapped
    }

    deinit {
        if let number = unsafe number { unsafe runloops_number_file_unmap(number) }
        if descriptor >= 0 { close(descriptor) }
    }

    /// Stores the number of a post, before that post is handed to the engine.
    func store(_ value: UInt64) {
        if let number = unsafe number { unsafe runloops_number_file_store(number, value) }
    }
}

/// The number of the last post of another process, readable even after that process was killed.
@safe
final class NumberView {
    private let number: UnsafePointer<UInt64>

    /// Maps the file of a descriptor; nil unless the file is a memory file that cannot shrink and that is long enough for a number.
    init?(_ descriptor: CInt) {
        // Safe, here and below: the memory is mapped until `deinit`, and its file cannot shrink.
        guard let mapped = unsafe runloops_number_file_map(descriptor) else { return nil }
        unsafe number = mapped
    }

    deinit { unsafe runloops_number_file_unmap_reader(number) }

    /// The number, which the other process can change at any time; nil if it is too large to be the number of a post.
    var value: UInt64? {
        let value = unsafe runloops_number_file_load(number)
        return value > UInt64(Int64.max) ? nil : value
    }
}
