extension RunLoop {
    /// Adds a timer to a mode.
    ///
    /// The loop holds the timer until it becomes invalid, or is removed from its last mode. If the timer is in the mode
    /// already, or is invalid, nothing happens.
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
    ///   - timer: The timer. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ timer: Timer, forMode mode: Mode) {
        core("RunLoop.remove(timer)", "perform a block on the loop and remove the timer there")
            .members.remove(timer, from: mode)
    }

    /// Adds a source of a descriptor to a mode.
    ///
    /// If the descriptor is ready already, that is reported, too. The loop holds the source until it is removed from its last
    /// mode or becomes invalid. If the source is in the mode already, or is invalid, nothing happens.
    ///
    /// - Parameters:
    ///   - source: The source. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel cannot watch the descriptor: it is closed (`EBADF`), or it is a regular file or
    ///   directory (`EPERM`), or the kernel has no room (`ENOMEM`, `ENOSPC`), or the process has no descriptor left, of which
    ///   the loop needs one for its first source (`EMFILE`). The source is as it was before.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ source: DescriptorSource, forMode mode: Mode) throws(SystemError) {
        let core = core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        do { try source.join(core.descriptors, mode) } catch {
            throw error.about(.source(source.descriptor, source.origin))
        }
    }

    /// Removes a source of a descriptor from a mode.
    ///
    /// No handler of it starts in that mode afterwards.
    ///
    /// - Parameters:
    ///   - source: The source. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ source: DescriptorSource, forMode mode: Mode) {
        let core = core("RunLoop.remove(source)", "perform a block on the loop and remove the source there")
        core.descriptors.remove(source, from: mode)
    }

    /// Adds a source that is signalled by hand to a mode.
    ///
    /// A signal that came before is served, too. The loop holds the source until it is removed from its last mode or becomes
    /// invalid. If the source is in the mode already, or is invalid, nothing happens.
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

    /// Removes a source that is signalled by hand from a mode.
    ///
    /// The source keeps a signal that was not served.
    ///
    /// - Parameters:
    ///   - source: The source. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ source: ManualSource, forMode mode: Mode) {
        let core = core("RunLoop.remove(source)", "perform a block on the loop and remove the source there")
        source.leave(core.members, mode)
    }

    /// Adds a source of signals to a mode.
    ///
    /// Signals that came before are served, too. The loop holds the source until it is removed from its last mode or becomes
    /// invalid. If the source is in the mode already, or is invalid, nothing happens.
    ///
    /// - Parameters:
    ///   - source: The source. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel has no room to watch it. The source is as it was before.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ source: SignalSource, forMode mode: Mode) throws(SystemError) {
        let core = core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        do { try source.join(core.descriptors, mode) } catch {
            throw error.about(.signal(source.signal, source.origin))
        }
    }

    /// Removes a source of signals from a mode.
    ///
    /// The source still owns the signal, and keeps signals that come.
    ///
    /// - Parameters:
    ///   - source: The source. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ source: SignalSource, forMode mode: Mode) {
        let core = core("RunLoop.remove(source)", "perform a block on the loop and remove the source there")
        source.leave(core.descriptors, mode)
    }

    /// Adds the source of a process's end to a mode.
    ///
    /// A process that has ended before is served, too. The loop holds the source until it is removed from its last mode or
    /// becomes invalid. If the source is in the mode already, or is invalid, nothing happens.
    ///
    /// - Parameters:
    ///   - source: The source. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel has no room to watch it. The source is as it was before.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ source: ProcessSource, forMode mode: Mode) throws(SystemError) {
        let core = core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        do { try source.join(core.descriptors, mode) } catch {
            throw error.about(.process(source.processID, source.origin))
        }
    }

    /// Removes the source of a process's end from a mode.
    ///
    /// The end of the process waits until the source is in a mode again.
    ///
    /// - Parameters:
    ///   - source: The source. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ source: ProcessSource, forMode mode: Mode) {
        let core = core("RunLoop.remove(source)", "perform a block on the loop and remove the source there")
        source.leave(core.descriptors, mode)
    }

    /// Adds the source of a library's descriptors to a mode.
    ///
    /// Descriptors that are ready already are reported, too, and so is a deadline that has passed. The loop holds the source until
    /// it is removed from its last mode or becomes invalid. If the source is in the mode already, or is invalid, nothing happens.
    ///
    /// - Parameters:
    ///   - source: The source. It must be in no other loop.
    ///   - mode: The mode, or ``Mode/common`` for all common modes, present and future.
    /// - Throws: ``SystemError`` if the kernel has no room to watch it. The source is as it was before.
    ///
    /// > Thread safety: the loop's own thread only.
    public func add(_ source: LibrarySource, forMode mode: Mode) throws(SystemError) {
        let core = core("RunLoop.add(source)", "perform a block on the loop and add the source there")
        do { try source.join(core.descriptors, core.timers, mode) } catch {
            throw error.about(.library(source.origin))
        }
    }

    /// Removes the source of a library's descriptors from a mode.
    ///
    /// The source keeps its descriptors and its deadline.
    ///
    /// - Parameters:
    ///   - source: The source. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ source: LibrarySource, forMode mode: Mode) {
        let core = core("RunLoop.remove(source)", "perform a block on the loop and remove the source there")
        source.leave(core.descriptors, mode)
    }

    /// Adds an observer to a mode.
    ///
    /// The loop holds the observer until it is removed from its last mode or becomes invalid. If the observer is in the mode
    /// already, or is invalid, nothing happens.
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
    ///   - observer: The observer. If it is not in the mode, nothing happens.
    ///   - mode: The mode, or ``Mode/common`` for all common modes.
    ///
    /// > Thread safety: the loop's own thread only.
    public func remove(_ observer: Observer, forMode mode: Mode) {
        core("RunLoop.remove(observer)", "perform a block on the loop and remove the observer there")
            .members.remove(observer, from: mode)
    }

    /// Makes a mode common: it gets all inputs that were and will be added to ``Mode/common``.
    ///
    /// A mode cannot be taken out of the set again.
    ///
    /// - Parameter mode: The mode. If it is common already, nothing happens.
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
