extension LibrarySource: RunLoopInput {
    /// Adds the source to a mode of a loop; call ``RunLoop/add(_:forMode:)`` instead.
    ///
    /// The source reports descriptors that are ready already, and a deadline that has passed.
    ///
    /// - Parameters:
    ///   - loop: The loop; the source must be in no other one.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel has no room to watch the source. The source is unchanged then.
    ///
    /// > Thread safety: the loop's own thread only.
    public func schedule(in loop: RunLoop, forMode mode: RunLoop.Mode) throws(SystemError) {
        let core = loop.core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        do { try join(core, mode) } catch { throw error.about("library source made at \(origin)") }
    }

    /// Removes the source from a mode of a loop; call ``RunLoop/remove(_:forMode:)`` instead.
    ///
    /// The source keeps its descriptors and its deadline.
    ///
    /// - Parameters:
    ///   - loop: The loop.
    ///   - mode: The mode, or ``RunLoop/Mode/common`` for all common modes. If the source is not in it, nothing happens.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func remove(from loop: RunLoop, forMode mode: RunLoop.Mode) { loop.take(self, outOf: mode) }

    /// Removes the source from all modes of a loop; call ``RunLoop/remove(_:)`` instead.
    ///
    /// - Parameter loop: The loop. If the source is not in it, nothing happens.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func remove(from loop: RunLoop) { loop.takeOutOfAllModes(self) }
}
