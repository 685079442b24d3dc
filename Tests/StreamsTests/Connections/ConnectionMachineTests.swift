import Testing

@testable import Streams

/// The guarantees of a connection hold in every state that it can reach by any order of events.
@Suite struct ConnectionMachineTests {
    /// An event from the kernel or a timer, or a call of the user.
    private enum Event: CaseIterable {
        case connect, data, inputEnd, incompleteInputEnd, error, idle, linger, drain, pause, resume
        case write, sent, endOutput, closeAfterWriting, close, wantInputEnd, handlerReturns
    }

    /// The state machine, with the state of its owner and the calls that were made.
    private struct State: Hashable {
        var machine: ConnectionMachine
        var hasUnsent = false
        var hasToldConnected = false
        var hasToldInputEnd = false
        var hasClosed = false
        var endsTold = 0
        var outputEnds = 0
        var calls = false
    }

    /// Applies an event as the owner does, and takes the steps; if `stays`, a called handler remains on the stack.
    private func apply(_ event: Event, to before: State, stays: Bool) -> State? {
        var state = before
        let isDead = state.machine.ended != nil
        switch event {
        case .connect:
            if state.machine.isConnected { return nil }
            state.machine.didConnect()
        case .data: if !state.machine.delivers { return nil } else { state = beginCall(state) }
        case .inputEnd, .incompleteInputEnd:
            if !state.machine.wantsInput(hasReceiver: true) || state.calls { return nil }
            state.machine.didEndInput(isComplete: event == .inputEnd)
        case .error: state.machine.end(.reset)
        case .idle: state.machine.end(.timedOut(.idle))
        case .linger: state.machine.didLinger()
        case .drain: state.machine.didDrain()
        case .pause: state.machine.pause()
        case .resume: state.machine.resume()
        case .write: if state.machine.takesOutput { state.hasUnsent = true } else { return nil }
        case .sent: if state.machine.isConnected { state.hasUnsent = false } else { return nil }
        case .endOutput: state.machine.endOutput()
        case .closeAfterWriting: state.machine.close(afterWriting: .closed)
        case .close: state.machine.end(.closed)
        case .wantInputEnd: state.machine.onInputEnd = .notice
        case .handlerReturns:
            if !state.calls { return nil }
            state.calls = false
            state.machine.endCall()
        }
        if isDead { #expect(state.machine.ended == before.machine.ended, "the reason stays the first one") }
        return takeSteps(state, stays: stays)
    }

    private func beginCall(_ before: State) -> State {
        var state = before
        state.machine.beginCall()
        state.calls = true
        return state
    }

    private func takeSteps(_ before: State, stays: Bool) -> State {
        var state = before
        var count = 0
        while let step = state.machine.nextStep(hasUnsent: state.hasUnsent) {
            count += 1
            #expect(count < 10, "the steps come to an end")
            #expect(state.endsTold == 0, "nothing comes after the end: \(step)")
            switch step {
            case .endOutput:
                state.outputEnds += 1
                #expect(
                    !state.hasUnsent && state.outputEnds == 1,
                    "the output ends once, behind all that was written")
            case .close:
                #expect(!state.hasClosed, "the socket is closed once")
                state.hasClosed = true
                state.hasUnsent = false
            case .call(let notice):
                #expect(!state.calls, "no handler is called inside another: \(notice)")
                switch notice {
                case .connected:
                    #expect(!state.hasToldConnected)
                    state.hasToldConnected = true
                case .inputEnded:
                    #expect(!state.hasToldInputEnd && state.machine.onInputEnd == .notice)
                    state.hasToldInputEnd = true
                case .drained: break
                case .ended(let reason):
                    #expect(state.hasClosed && state.machine.ended == reason)
                    state.endsTold += 1
                }
                if case .ended = notice { continue }
                if stays { return beginCall(state) }
            }
        }
        return state
    }

    private func check(_ state: State) {
        let machine = state.machine
        #expect(machine.isOver == (state.endsTold == 1))
        if machine.ended != nil {
            #expect(!machine.delivers && !machine.takesOutput && !machine.wantsInput(hasReceiver: true))
            #expect(state.hasClosed)
            #expect(
                state.calls || state.endsTold == 1, "the end is told as soon as no handler is on the stack")
        }
        if machine.closing != nil || machine.isPaused || state.calls { #expect(!machine.delivers) }
        if machine.closing != nil && machine.ended == nil {
            #expect(!machine.takesOutput)
            #expect(machine.input == .ended || machine.wantsInput(hasReceiver: false) || !machine.isConnected)
        }
        if machine.isConnected && machine.ended == nil && !state.calls {
            #expect(
                machine.input == .open || machine.output != .ended,
                "a connection that is closed both ways has ended")
        }
    }

    // Guarantees: The end of a connection is reported once, and last, whatever both sides and the handlers do.
    // Guarantees: The socket is closed when the handler of the end is called.
    @Test(arguments: [true, false]) func `the end is told once and last, in every order of events`(
        isConnected: Bool
    ) {
        var known: Set<State> = []
        var open = [State(machine: ConnectionMachine(isConnected: isConnected))]
        var ends: Set<Connection.EndReason> = []
        while let state = open.popLast() {
            if !known.insert(state).inserted { continue }
            check(state)
            if state.endsTold == 1, let reason = state.machine.ended { ends.insert(reason) }
            for event in Event.allCases {
                for stays in [true, false] {
                    if let next = apply(event, to: state, stays: stays) { open.append(next) }
                }
            }
        }
        #expect(known.count > 300)
        #expect(ends.isSuperset(of: [.closed, .peerClosed, .incompleteInput, .reset, .timedOut(.idle)]))
    }

    @Test func `output that ends after the input ends the connection`() {
        var machine = ConnectionMachine(isConnected: true)
        machine.onInputEnd = .notice
        machine.didEndInput(isComplete: true)
        #expect(machine.nextStep(hasUnsent: false) == .call(.inputEnded))
        #expect(machine.nextStep(hasUnsent: false) == nil)
        machine.endOutput()
        #expect(machine.nextStep(hasUnsent: true) == nil)
        #expect(machine.nextStep(hasUnsent: false) == .endOutput)
        #expect(machine.nextStep(hasUnsent: false) == .close)
        #expect(machine.nextStep(hasUnsent: false) == .call(.ended(.peerClosed)))
    }

    @Test func `a closing connection discards input until the peer closes`() {
        var machine = ConnectionMachine(isConnected: true)
        machine.close(afterWriting: .closed)
        #expect(machine.nextStep(hasUnsent: false) == .endOutput)
        #expect(machine.nextStep(hasUnsent: false) == nil)
        #expect(machine.isLingering && machine.wantsInput(hasReceiver: false) && !machine.delivers)
        machine.didEndInput(isComplete: true)
        #expect(machine.nextStep(hasUnsent: false) == .close)
        #expect(machine.nextStep(hasUnsent: false) == .call(.ended(.closed)))
    }
}
