#if DEBUG
    import Dispatch
    import TestSupport

    @testable import RunLoops

    /// Lets one of several threads run at a time, and switches to another one at race points that a seed determines.
    ///
    /// A thread leaves when it is about to sleep, and returns when it is awake. A thread that blocks elsewhere, for a lock or for
    /// room in a port, loses its turn if no thread makes a step for some time.
    final class Turns: Sendable {
        private struct State {
            var random: SplitMix64
            /// The average number of steps between two switches.
            var rarity: Int
            var holder: Int?
            var ready: [Int] = []
            /// The number of steps of all threads.
            var progress = 0
        }

        private let state: Guarded<State>
        private let gates: [DispatchSemaphore]
        private static let patience = DispatchTimeInterval.microseconds(300)

        init(_ threads: Int, seed: UInt64) {
            var random = SplitMix64(seed: seed)
            let rarity = [2, 3, 5, 10, 20][Int.random(in: 0..<5, using: &random)]
            state = Guarded(State(random: random, rarity: rarity))
            gates = (0..<threads).map { _ in DispatchSemaphore(value: 0) }
        }

        /// Called when a thread is at a race point.
        func pass(_ thread: Int) {
            let (waits, next): (Bool, Int?) = state.withLock { state in
                state.progress += 1
                if state.holder == nil { state.holder = thread }
                if state.holder != thread {
                    state.ready.append(thread)
                    return (true, nil)
                }
                if state.ready.isEmpty || Int.random(in: 0..<state.rarity, using: &state.random) > 0 {
                    return (false, nil)
                }
                let next = grant(&state)
                state.ready.append(thread)
                return (true, next)
            }
            if let next { gates[next].signal() }
            if waits { wait(thread) }
        }

        /// Called when a thread is about to sleep, or has finished.
        func leave(_ thread: Int) {
            let next: Int? = state.withLock { state in
                state.progress += 1
                if state.holder != thread { return nil }
                if state.ready.isEmpty {
                    state.holder = nil
                    return nil
                }
                return grant(&state)
            }
            if let next { gates[next].signal() }
        }

        private func grant(_ state: inout State) -> Int {
            let index = Int.random(in: 0..<state.ready.count, using: &state.random)
            let next = state.ready.remove(at: index)
            state.holder = next
            return next
        }

        private func wait(_ thread: Int) {
            var seen = -1
            while gates[thread].wait(timeout: .now() + Self.patience) == .timedOut {
                let takes = state.withLock { state in
                    // The turn was granted just now, and the semaphore is about to be signalled.
                    guard let place = state.ready.firstIndex(of: thread) else { return false }
                    if state.progress != seen {
                        seen = state.progress
                        return false
                    }
                    state.ready.remove(at: place)
                    state.holder = thread
                    return true
                }
                if takes { return }
            }
        }
    }
#endif
