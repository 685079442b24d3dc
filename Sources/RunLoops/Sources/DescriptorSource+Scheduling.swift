extension DescriptorSource: RunLoopInput {
    /// Adds the source to a mode of a loop; call ``RunLoop/add(_:forMode:)`` instead.
    ///
    /// If the descriptor is ready already, the source reports it.
    ///
    /// - Parameters:
    ///   - loop: The loop; the source must be in no other one.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel cannot watch the descriptor, because the descriptor is closed (`EBADF`) or belongs
    ///   to a regular file or a directory (`EPERM`), because the kernel has no room (`ENOMEM`, `ENOSPC`), or because the process
    ///   has no descriptor left for the loop, which needs one for its first source (`EMFILE`). The source is unchanged then.
    ///
    /// > Thread safety: the loop's own thread only.
    public func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) throws(SystemError) {
        let core = loop.core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        do { try join(core.descriptors, mode) } catch {
            throw error.about("source of descriptor \(descriptor) made at \(origin)")
        }
    }
}
