internal import CLibEvent
internal import CRunLoops
internal import Glibc

// Each descriptor is close-on-exec from the start, so a program that another thread starts at the same time does not inherit it.

extension OwnedDescriptor {
    /// Opens a file that is in memory and has no name in any directory.
    ///
    /// The file is empty or filled with zeros, and exists as long as a process has it open or mapped. Its size can be changed. If a
    /// file becomes shorter, the kernel ends a process that has mapped the file and reads beyond the new end. So seal the size,
    /// with `F_ADD_SEALS` of `fcntl`, before you send the file to a process that does not trust yours. The descriptor is
    /// close-on-exec.
    ///
    /// - Parameters:
    ///   - name: A name for `/proc`, of at most 249 bytes. Several files can have the same name.
    ///   - size: The size in bytes.
    /// - Returns: The descriptor, open for reading and writing.
    /// - Throws: ``SystemError`` if the process cannot open more descriptors, or the kernel refuses the name or the size. The call
    ///   then leaves no descriptor open.
    public static func memory(name: String = "memory", size: Int = 0) throws(SystemError) -> OwnedDescriptor {
        if size < 0 { misuse("OwnedDescriptor.memory: a file cannot have \(size) bytes; pass 0 or more") }
        // Safe: the function only reads the string.
        let file = OwnedDescriptor(try systemCall("memfd_create") { unsafe runloops_memory_file(name) })
        if size > 0 {
            let number = file.descriptor
            _ = try systemCall("ftruncate") { ftruncate(number, size) }
        }
        return file
    }

    /// Opens a pipe.
    ///
    /// Both ends are close-on-exec, and calls on them block: see ``setNonBlocking(_:)``. A write to a pipe whose reading end is
    /// closed raises `SIGPIPE`, which ends the process unless you ignore the signal: ``SignalSource/ignoreBrokenPipes()``.
    ///
    /// - Returns: The two ends, each with its own owner.
    /// - Throws: ``SystemError`` if the process cannot open more descriptors. The call then leaves no descriptor open.
    public static func pipe() throws(SystemError) -> Pipe {
        var ends = runloops_pipe_ends()
        // Safe: the function fills a local value.
        _ = try systemCall("pipe2") { unsafe runloops_pipe(&ends) }
        return Pipe(
            readingEnd: OwnedDescriptor(ends.reading), writingEnd: OwnedDescriptor(ends.writing))
    }

    /// Opens an event descriptor: a counter that is readable while it is not 0.
    ///
    /// A write of eight bytes adds a number, in the machine's byte order, to the counter. A read of eight bytes returns the counter
    /// and sets it to 0. The descriptor is close-on-exec, and calls on it block: see ``setNonBlocking(_:)``. To wake a loop of this
    /// package, use a ``Port`` or a block instead.
    ///
    /// - Parameter count: The initial value of the counter.
    /// - Returns: The descriptor.
    /// - Throws: ``SystemError`` if the process cannot open more descriptors.
    public static func eventDescriptor(count: CUnsignedInt = 0) throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(try systemCall("eventfd") { eventfd(count, CInt(EFD_CLOEXEC)) })
    }
}
