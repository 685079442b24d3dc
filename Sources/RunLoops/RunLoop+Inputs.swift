extension RunLoop {
    /// Adds a timer to a mode.
    ///
    /// The loop holds the timer until the timer is removed from its last mode or becomes invalid. If the timer is in the mode
    /// already, or is invalid, the call does nothing.
    ///
    /// - Parameters:
    ///   - timer: The timer. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Complexity: O(log *n*) for *n* timers.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ timer: Timer, forMode mode: Mode) {
        let core = core("RunLoop.add(timer)", "perform a block on the loop and add the timer there")
        timer.join(core.timers, of: core.members, mode)
    }

    /// Removes a timer from a mode.
    ///
    /// The timer stays valid.
    ///
    /// - Parameters:
    ///   - timer: The timer. If it is not in the mode, the call does nothing.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ timer: Timer, forMode mode: Mode) {
        core("RunLoop.remove(timer)", "perform a block on the loop and remove the timer there")
            .members.remove(timer, from: mode)
    }

    /// Adds a descriptor source to a mode.
    ///
    /// If the descriptor is ready already, the source reports it. The loop holds the source until the source is removed from its
    /// last mode or becomes invalid. If the source is in the mode already, or is invalid, the call does nothing.
    ///
    /// - Parameters:
    ///   - source: The source. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel cannot watch the descriptor, because the descriptor is closed (`EBADF`) or belongs
    ///   to a regular file or a directory (`EPERM`), because the kernel has no room (`ENOMEM`, `ENOSPC`), or because the process
    ///   has no descriptor left for the loop, which needs one for its first source (`EMFILE`). The source is unchanged then.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ source: DescriptorSource, forMode mode: Mode) throws(SystemError) {
        let core = core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        do { try source.join(core.descriptors, mode) } catch {
            throw error.about(.source(source.descriptor, source.origin))
        }
    }

    /// Removes a descriptor source from a mode.
    ///
    /// The source's handler does not start in that mode afterwards.
    ///
    /// - Parameters:
    ///   - source: The source. If it is not in the mode, the call does nothing.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ source: DescriptorSource, forMode mode: Mode) {
        let core = core("RunLoop.remove(source)", "perform a block on the loop and remove the source there")
        core.descriptors.remove(source, from: mode)
    }

    /// Adds a manual source to a mode.
    ///
    /// The loop also serves a signal that arrived before. The loop holds the source until the source is removed from its last mode
    /// or becomes invalid. If the source is in the mode already, or is invalid, the call does nothing.
    ///
    /// - Parameters:
    ///   - source: The source. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ source: ManualSource, forMode mode: Mode) {
        let core = core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        source.join(core.readyInputs, mode)
    }

    /// Removes a manual source from a mode.
    ///
    /// The source keeps a signal that was not served.
    ///
    /// - Parameters:
    ///   - source: The source. If it is not in the mode, the call does nothing.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ source: ManualSource, forMode mode: Mode) {
        let core = core("RunLoop.remove(source)", "perform a block on the loop and remove the source there")
        source.leave(core.members, mode)
    }

    /// Adds a signal source to a mode.
    ///
    /// The loop also serves signals that arrived before. The loop holds the source until the source is removed from its last mode
    /// or becomes invalid. If the source is in the mode already, or is invalid, the call does nothing.
    ///
    /// - Parameters:
    ///   - source: The source. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel has no room to watch the source. The source is unchanged then.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ source: SignalSource, forMode mode: Mode) throws(SystemError) {
        let core = core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        do { try source.join(core.descriptors, mode) } catch {
            throw error.about(.signal(source.signal, source.origin))
        }
    }

    /// Removes a signal source from a mode.
    ///
    /// The source still owns its signal, and stores the signals that arrive.
    ///
    /// - Parameters:
    ///   - source: The source. If it is not in the mode, the call does nothing.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ source: SignalSource, forMode mode: Mode) {
        let core = core("RunLoop.remove(source)", "perform a block on the loop and remove the source there")
        source.leave(core.descriptors, mode)
    }

    /// Adds a process source to a mode.
    ///
    /// If the process has ended already, the handler is called soon. The loop holds the source until the source is removed from its
    /// last mode or becomes invalid. If the source is in the mode already, or is invalid, the call does nothing.
    ///
    /// - Parameters:
    ///   - source: The source. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel has no room to watch the source. The source is unchanged then.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ source: ProcessSource, forMode mode: Mode) throws(SystemError) {
        let core = core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        do { try source.join(core.descriptors, mode) } catch {
            throw error.about(.process(source.processID, source.origin))
        }
    }

    /// Removes a process source from a mode.
    ///
    /// If the process ends while the source is in no mode, the source reports the end after it has been added to a mode again.
    ///
    /// - Parameters:
    ///   - source: The source. If it is not in the mode, the call does nothing.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ source: ProcessSource, forMode mode: Mode) {
        let core = core("RunLoop.remove(source)", "perform a block on the loop and remove the source there")
        source.leave(core.descriptors, mode)
    }

    /// Adds a library source to a mode.
    ///
    /// The source reports descriptors that are ready already, and a deadline that has passed. The loop holds the source until the
    /// source is removed from its last mode or becomes invalid. If the source is in the mode already, or is invalid, the call does
    /// nothing.
    ///
    /// - Parameters:
    ///   - source: The source. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel has no room to watch the source. The source is unchanged then.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ source: LibrarySource, forMode mode: Mode) throws(SystemError) {
        let core = core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        do { try source.join(core.descriptors, core.timers, mode) } catch {
            throw error.about(.library(source.origin))
        }
    }

    /// Removes a library source from a mode.
    ///
    /// The source keeps its descriptors and its deadline.
    ///
    /// - Parameters:
    ///   - source: The source. If it is not in the mode, the call does nothing.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ source: LibrarySource, forMode mode: Mode) {
        let core = core("RunLoop.remove(source)", "perform a block on the loop and remove the source there")
        source.leave(core.descriptors, mode)
    }

    /// Adds an observer to a mode.
    ///
    /// The loop holds the observer until the observer is removed from its last mode or becomes invalid. If the observer is in the
    /// mode already, or is invalid, the call does nothing.
    ///
    /// - Parameters:
    ///   - observer: The observer. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ observer: Observer, forMode mode: Mode) {
        let core = core("RunLoop.add(observer)", "perform a block on the loop and add the observer there")
        observer.join(core.observers, mode)
    }

    /// Removes an observer from a mode.
    ///
    /// - Parameters:
    ///   - observer: The observer. If it is not in the mode, the call does nothing.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ observer: Observer, forMode mode: Mode) {
        core("RunLoop.remove(observer)", "perform a block on the loop and remove the observer there")
            .members.remove(observer, from: mode)
    }

    /// Makes a mode common.
    ///
    /// The mode gets all inputs that were added to ``Mode/common``, and all inputs that are added to it later. A common mode stays
    /// common.
    ///
    /// - Parameter mode: The mode. If it is common already, the call does nothing.
    /// - Complexity: O(*n*) for *n* inputs of the loop.
    ///
    /// > Thread safety: the loop's own thread only.
    public func addCommonMode(_ mode: Mode) {
        let core = core("RunLoop.addCommonMode", "perform a block on the loop and add the mode there")
        if mode == .common {
            misuse("RunLoop.addCommonMode: .common is the set itself; name a mode to join it")
        }
        core.addCommonMode(mode)
    }
}
