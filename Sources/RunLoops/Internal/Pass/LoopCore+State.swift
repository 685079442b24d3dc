internal import DequeModule

// What every pass looks at.
//
// Swift checks an access to a class's property for another one that is still going on. A pass looked at so many of these that
// the checks were a third of all that a wake-up cost; here they are spared, which ``ExclusivityUnchecked`` argues.

extension LoopCore {
    struct State {
        var modes = ModeTable()
        var blocks = BlockQueue()
        var serving: [Signal] = []
        var timers = TimerQueue<Timer>()
        var dueFires: [TimerQueue<Timer>.Fire] = []
        var readyDescriptors = Deque<DescriptorSource>()
        var passEndWork: [any DeferredWork] = []
        var idleWork: [any DeferredWork] = []
        var waiting = Waiting()
    }

    /// The modes that anything was added to, and which are common.
    var modes: ModeTable {
        @inline(__always) _read { yield state.value.modes }
        @inline(__always) _modify { yield &state.value.modes }
    }

    /// Blocks, parcels and jobs that were taken in and have not run.
    var blocks: BlockQueue {
        @inline(__always) _read { yield state.value.blocks }
        @inline(__always) _modify { yield &state.value.blocks }
    }

    /// The ports whose handlers are on the stack, outermost first.
    var serving: [Signal] {
        @inline(__always) _read { yield state.value.serving }
        @inline(__always) _modify { yield &state.value.serving }
    }

    var timers: TimerQueue<Timer> {
        @inline(__always) _read { yield state.value.timers }
        @inline(__always) _modify { yield &state.value.timers }
    }

    /// Empty, with room: what a pass lists its due timers in.
    var dueFires: [TimerQueue<Timer>.Fire] {
        @inline(__always) _read { yield state.value.dueFires }
        @inline(__always) _modify { yield &state.value.dueFires }
    }

    /// Descriptors that were ready when the kernel was last asked, and have not been served.
    var readyDescriptors: Deque<DescriptorSource> {
        @inline(__always) _read { yield state.value.readyDescriptors }
        @inline(__always) _modify { yield &state.value.readyDescriptors }
    }

    /// Who is asked for work at the end of a pass.
    var passEndWork: [any DeferredWork] {
        @inline(__always) _read { yield state.value.passEndWork }
        @inline(__always) _modify { yield &state.value.passEndWork }
    }

    /// Who is asked for work before a sleep.
    var idleWork: [any DeferredWork] {
        @inline(__always) _read { yield state.value.idleWork }
        @inline(__always) _modify { yield &state.value.idleWork }
    }

    /// How the loop waits, and what it has learned about waiting.
    var waiting: Waiting {
        @inline(__always) _read { yield state.value.waiting }
        @inline(__always) _modify { yield &state.value.waiting }
    }
}
