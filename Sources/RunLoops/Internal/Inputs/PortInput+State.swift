// What changes of a port's place in a loop, looked at for each message: without the checks that a class's properties cost,
// which ``ExclusivityUnchecked`` argues.

extension PortInput {
    struct State {
        var membership = Membership()
        var signal: ReadyNode?
        var handlers = ModeHandlers<Handler>()
        var hasBeenArmed = false
        var noSenders: (() -> Void)?
        var hasLeftAMode = false
    }

    /// A type of its own: a function in a tuple or an optional is wrapped anew each time it is taken out.
    struct Handler: ModeHandler {
        let mode: RunLoop.Mode
        let deliver: (Node.Slot) -> Void
    }

    var membership: Membership {
        @inline(__always) _read { yield state.value.membership }
        @inline(__always) _modify { yield &state.value.membership }
    }

    // Those that each message looks at are got and not yielded: what yields in turn what it was yielded allocates memory where
    // code is not optimized.

    /// Nil once the port has left the loop.
    var signal: ReadyNode? {
        @inline(__always) get { state.value.signal }
        @inline(__always) _modify { yield &state.value.signal }
    }

    /// What a message is delivered to, by the mode that the port was added to.
    var handlers: ModeHandlers<Handler> {
        @inline(__always) _read { yield state.value.handlers }
        @inline(__always) _modify { yield &state.value.handlers }
    }

    /// Whether it has asked for messages since it came into the loop; from then on whoever serves it asks anew.
    var hasBeenArmed: Bool {
        @inline(__always) get { state.value.hasBeenArmed }
        @inline(__always) _modify { yield &state.value.hasBeenArmed }
    }

    /// What is called when the last send right has gone.
    var noSenders: (() -> Void)? {
        @inline(__always) _read { yield state.value.noSenders }
        @inline(__always) _modify { yield &state.value.noSenders }
    }

    /// A handler has taken the port out of a mode: what is being served ends there.
    var hasLeftAMode: Bool {
        @inline(__always) get { state.value.hasLeftAMode }
        @inline(__always) _modify { yield &state.value.hasLeftAMode }
    }
}
