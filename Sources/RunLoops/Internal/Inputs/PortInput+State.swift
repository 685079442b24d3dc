// The mutable state of a port's place in a loop. It is accessed for each message, so it does without the exclusivity checks of
// class properties, as ``ExclusivityUnchecked`` argues.

extension PortInput {
    struct State: ~Copyable {
        var membership = Membership()
        var signal: ReadyNode?
        var handlers = ModeHandlers<Handler>()
        var hasBeenArmed = false
        var noSenders: (() -> Void)?
        var hasLeftAMode = false
    }

    /// A handler with its mode.
    ///
    /// A type of its own: a function in a tuple or an optional is wrapped once more each time it is taken out.
    struct Handler: ModeHandler {
        let mode: RunLoop.Mode
        let deliver: (Node.Slot) -> Void
    }

    var membership: Membership {
        @inline(__always) _read { yield state.value.membership }
        @inline(__always) _modify { yield &state.value.membership }
    }

    // The properties that each message accesses have getters instead of `_read`: in unoptimized code, an accessor that yields a
    // value yielded to it allocates memory.

    /// The signal that announces messages; nil once the port has left the loop.
    var signal: ReadyNode? {
        @inline(__always) get { state.value.signal }
        @inline(__always) _modify { yield &state.value.signal }
    }

    /// The handlers of messages, by the mode that the port was added to.
    var handlers: ModeHandlers<Handler> {
        @inline(__always) _read { yield state.value.handlers }
        @inline(__always) _modify { yield &state.value.handlers }
    }

    /// True if the port was armed since it joined the loop.
    ///
    /// From then on it is armed again each time it was served.
    var hasBeenArmed: Bool {
        @inline(__always) get { state.value.hasBeenArmed }
        @inline(__always) _modify { yield &state.value.hasBeenArmed }
    }

    /// The handler that is called once the last send right is released.
    var noSenders: (() -> Void)? {
        @inline(__always) _read { yield state.value.noSenders }
        @inline(__always) _modify { yield &state.value.noSenders }
    }

    /// True if a handler has taken the port out of a mode, so that the serving under way ends.
    var hasLeftAMode: Bool {
        @inline(__always) get { state.value.hasLeftAMode }
        @inline(__always) _modify { yield &state.value.hasLeftAMode }
    }
}
