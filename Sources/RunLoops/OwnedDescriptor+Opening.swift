internal import CLibEvent
internal import CThreads
internal import Glibc

// Each descriptor is close-on-exec from the start: no program that another thread starts meanwhile inherits it.

extension OwnedDescriptor {
    /// Opens a file that lies in memory and has no name in any directory.
    ///
    /// The file is empty or filled with zeros, and lives as long as a process has it open or mapped. Its size can be changed.
    /// A process that maps a file of another process is ended by the kernel if the file becomes shorter, so seal the size, with
    /// `F_ADD_SEALS` of `fcntl`, before you send the file to a process that does not trust yours. The descriptor is
    /// close-on-exec.
    ///
    /// - Parameters:
    ///   - name: A name for `/proc`, of at most 249 bytes; files may have the same name.
    ///   - size: The size in bytes.
    /// - Returns: The descriptor, open for reading and writing.
    /// - Throws: ``SystemError`` if the process may open no more descriptors, or the kernel refuses the name or the size.
    ///   Nothing is left open then.
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
    /// closed raises `SIGPIPE`, which ends the process unless you ignore it: ``SignalSource/ignoreBrokenPipes()``.
    ///
    /// - Returns: The two ends, each with an owner of its own.
    /// - Throws: ``SystemError`` if the process may open no more descriptors. Nothing is left open then.
    public static func pipe() throws(SystemError) -> Pipe {
        var ends = runloops_pipe_ends()
        // Safe: the function fills our own value.
        _ = try systemCall("pipe2") { unsafe runloops_pipe(&ends) }
        return Pipe(
            readingEnd: OwnedDescriptor(ends.reading), writingEnd: OwnedDescriptor(ends.writing))
    }

    /// Opens an event descriptor: a counter that is readable while it is not 0.
    ///
    /// A write of eight bytes, a number in the machine's byte order, adds to the counter. A read of eight bytes takes the
    /// counter and sets it to 0. The descriptor is close-on-exec, and calls on it block: see ``setNonBlocking(_:)``. To wake a
    /// loop of this package you do not need one: use a ``Port`` or a block.
    ///
    /// - Parameter count: The initial value of the counter.
    /// - Returns: The descriptor.
    /// - Throws: ``SystemError`` if the process may open no more descriptors.
    public static func eventDescriptor(count: CUnsignedInt = 0) throws(SystemError) -> OwnedDescriptor {
        OwnedDescriptor(try systemCall("eventfd") { eventfd(count, CInt(EFD_CLOEXEC)) })
    }
}
