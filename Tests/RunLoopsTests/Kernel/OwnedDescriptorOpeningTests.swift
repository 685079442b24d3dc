import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

/// Descriptors that the package opens for a program.
@Suite struct OwnedDescriptorOpeningTests {
    @Test func `a file in memory has its size, is filled with zeros, and can be sealed`() throws {
        let file = try OwnedDescriptor.memory(name: "test", size: 3)
        #expect(bytes(of: file.descriptor) == [0, 0, 0])
        #expect(isCloseOnExec(file.descriptor))
        let empty = try OwnedDescriptor.memory()
        #expect(bytes(of: empty.descriptor) == [])
        #expect(write([7], to: empty.descriptor) == 1)
        #expect(bytes(of: empty.descriptor) == [7])
        // F_ADD_SEALS and F_SEAL_SHRINK, which the headers define only with `_GNU_SOURCE`.
        let number = file.descriptor
        #expect(fcntl(number, 1033, CInt(0x2)) == 0)
        #expect(ftruncate(number, 1) == -1 && errno == EPERM)
    }

    @Test func `what is written to a pipe is read from it, and each end is closed by its owner`() throws {
        let pipe = try OwnedDescriptor.pipe()
        let writingEnd = pipe.writingEnd
        let readingEnd = pipe.readingEnd
        #expect(isCloseOnExec(readingEnd.descriptor) && isCloseOnExec(writingEnd.descriptor))
        #expect(write([1, 2], to: writingEnd.descriptor) == 2)
        #expect(read(from: readingEnd.descriptor) == [1, 2])
        try readingEnd.setNonBlocking()
        #expect(read(from: readingEnd.descriptor) == nil && errno == EAGAIN)
        let second = try writingEnd.duplicate()
        _ = consume writingEnd
        #expect(read(from: readingEnd.descriptor) == nil && errno == EAGAIN)
        _ = consume second
        #expect(read(from: readingEnd.descriptor) == [])
    }

    @Test func `an event descriptor counts what is written until it is read`() throws {
        let event = try OwnedDescriptor.eventDescriptor(count: 3)
        #expect(isCloseOnExec(event.descriptor))
        try event.setNonBlocking()
        #expect(write([2, 0, 0, 0, 0, 0, 0, 0].nativeOrder, to: event.descriptor) == 8)
        #expect(read(from: event.descriptor) == [5, 0, 0, 0, 0, 0, 0, 0].nativeOrder)
        #expect(read(from: event.descriptor) == nil && errno == EAGAIN)
    }

    @Test func `calls on a descriptor block again after that was set back, also through a duplicate`() throws
    {
        let event = try OwnedDescriptor.eventDescriptor()
        let second = try event.duplicate()
        #expect(blocks(event.descriptor) && blocks(second.descriptor))
        try event.setNonBlocking()
        #expect(!blocks(event.descriptor) && !blocks(second.descriptor))
        try second.setNonBlocking(false)
        #expect(blocks(event.descriptor) && blocks(second.descriptor))
        let closed = OwnedDescriptor(1 << 20)
        #expect(throws: SystemError(call: "fcntl", code: EBADF)) { try closed.setNonBlocking() }
    }

    @Test func `a refusal of the kernel is an error and leaves nothing open`() async throws {
        try await #require(processExitsWith: .success) {
            let bound = try boundOfDescriptors()
            let openings: [(needed: Int, open: () throws -> Void)] = [
                (1, { _ = try OwnedDescriptor.memory(size: 1) }),
                (1, { _ = try OwnedDescriptor.eventDescriptor() }),
                (2, { _ = try OwnedDescriptor.pipe() }),
            ]
            for opening in openings {
                for free in 0..<opening.needed {
                    #expect(refusal(bound, free: free, opening.open) == EMFILE)
                    #expect(openDescriptors(from: bound) == 0)
                }
                #expect(refusal(bound, free: opening.needed, opening.open) == nil)
                #expect(openDescriptors(from: bound) == 0)
            }
            // The file is already open when the kernel refuses its size.
            Signals.ignore(SIGXFSZ)
            try limitFileSize(to: 100)
            fillDescriptors(below: bound)
            #expect(throws: SystemError(call: "ftruncate", code: EFBIG)) {
                _ = try OwnedDescriptor.memory(size: 101)
            }
            #expect(openDescriptors(from: bound) == 0)
            #expect(throws: SystemError(call: "memfd_create", code: EINVAL)) {
                _ = try OwnedDescriptor.memory(name: String(repeating: "x", count: 250))
            }
        }
    }

    @Test func `a file in memory with a negative size is misuse`() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
            _ = try OwnedDescriptor.memory(size: -1)
        }
        let message = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(message.contains("OwnedDescriptor.memory: a file cannot have -1 bytes; pass 0 or more"))
    }
}

extension [UInt8] {
    /// The bytes of a number in the machine's order; the array has the lowest byte first.
    fileprivate var nativeOrder: [UInt8] { 1.littleEndian == 1 ? self : reversed() }
}

private func isCloseOnExec(_ descriptor: CInt) -> Bool {
    fcntl(descriptor, F_GETFD) == FD_CLOEXEC
}

private func blocks(_ descriptor: CInt) -> Bool {
    fcntl(descriptor, F_GETFL) & O_NONBLOCK == 0
}

private func write(_ bytes: [UInt8], to descriptor: CInt) -> Int {
    // Safe: the kernel only reads the array.
    unsafe write(descriptor, bytes, bytes.count)
}

/// Reads up to ten bytes; nil if the kernel refuses the call.
private func read(from descriptor: CInt) -> [UInt8]? {
    var bytes = [UInt8](repeating: 0, count: 10)
    // Safe: the kernel writes at most the length of the array.
    let count = unsafe read(descriptor, &bytes, bytes.count)
    return count < 0 ? nil : Array(bytes.prefix(count))
}

/// Returns the first ten bytes of a file.
private func bytes(of descriptor: CInt) -> [UInt8]? {
    lseek(descriptor, 0, SEEK_SET)
    return read(from: descriptor)
}

private func limitFileSize(to size: Int) throws {
    let resource = __rlimit_resource_t(RLIMIT_FSIZE.rawValue)
    var limit = rlimit()
    // Safe, both: the kernel reads and fills a local variable.
    unsafe getrlimit(resource, &limit)
    limit.rlim_cur = rlim_t(size)
    if unsafe setrlimit(resource, &limit) != 0 { throw SystemError(call: "setrlimit", code: errno) }
}
