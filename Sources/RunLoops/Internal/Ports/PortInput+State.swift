// The mutable state of a port in its loop. It is accessed for each message, so it is stored without the exclusivity checks of class
// properties; see ``ExclusivityUnchecked`` for the reason.

extension PortInput {
    struct State: ~Copyable {
        var membership = Membership()
        var signal: ReadyNode?
        var handlers = ModeHandlers<Handler>()
        var hasBeenArmed = false
        var noSenders: (() -> Void)?
        var hasLeftAMode = false
    }

    /// A handler of the port's messages, with the mode that it was added for.
    ///
    /// This is a separate type instead of a tuple, because Swift adds another wrapper to a closure each time that the closure is
    /// taken out of a tuple or an optional.
    struct Handler: ModeHandler {
        let mode: Mode
        let deliver: (Node.Slot) -> Void
    }

    var membership: Membership {
        @inline(__always) _read { yield state.value.membership }
        @inline(__always) _modify { yield &state.value.membership }
    }

    // The properties that are read for each message have getters instead of `_read`. In unoptimized code, an accessor allocates
    // memory if it yields a value that another accessor has yielded to it.

    /// The signal with which senders make the port ready; nil after the port has left the loop.
    var signal: ReadyNode? {
        @inline(__always) get { state.value.signal }
        @inline(__always) _modify { yield &state.value.signal }
    }

    /// The handlers of messages, keyed by the mode that the port was added to.
    var handlers: ModeHandlers<Handler> {
        @inline(__always) _read { yield state.value.handlers }
        @inline(__always) _modify { yield &state.value.handlers }
    }

    /// True if the port's mailbox or bell has been armed since the port joined the loop.
    ///
    /// After that, it is armed again each time the port has been served.
    var hasBeenArmed: Bool {
        @inline(__always) get { state.value.hasBeenArmed }
        @inline(__always) _modify { yield &state.value.hasBeenArmed }
    }

    /// The handler that is called when the last send right has been released.
    var noSenders: (() -> Void)? {
        @inline(__always) _read { yield state.value.noSenders }
        @inline(__always) _modify { yield &state.value.noSenders }
    }

    /// True if a handler has removed the port from a mode, so the loop must stop serving the port in this pass.
    var hasLeftAMode: Bool {
        @inline(__always) get { state.value.hasLeftAMode }
        @inline(__always) _modify { yield &state.value.hasLeftAMode }
    }
}
