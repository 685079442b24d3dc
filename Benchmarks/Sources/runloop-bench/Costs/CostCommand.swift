internal import ArgumentParser

/// Performs one operation of the package an exact number of times.
///
/// `.ci/instructions` counts the instructions of the command for two numbers of operations. The difference leaves out the start and
/// the end of the program.
struct CostCommand: ParsableCommand {
    static let configuration = CommandConfiguration(commandName: "cost", shouldDisplay: false)

    /// The operations.
    enum Operation: String, ExpressibleByArgument, CaseIterable {
        /// A block that one sleeping loop performs on another one.
        case hopPerform = "hop-perform"
        /// A message from one sleeping loop to another one.
        case hopPort = "hop-port"
        /// A timer that is made, slept for, and fires.
        case timer
        /// A timer that is made and cancelled, beside ten that wait.
        case timerChange = "timer-change"
        /// A thread that is started and ends, which ``loop`` includes.
        case thread
        /// A thread that makes its loop, runs it once, and ends.
        case loop
        /// A message to a port set, one of many that wait.
        case setStream = "set-stream"
        /// A message from one thread that sleeps in a port set to another one.
        case setHop = "set-hop"
        /// A notification to an observer on another thread's loop, one of many that wait.
        case redirected
        /// A datagram that a socket receives, one of many that wait; the instructions of its sender in C are included.
        case datagram
        /// A request that blocks a loop.
        case requestBlocking = "request-blocking"
        /// A request that an actor on a loop awaits.
        case requestAwaited = "request-awaited"
        /// A request to a port of the same process through a socket.
        case requestRemote = "request-remote"
    }

    @Argument(help: "The operation.")
    var operation: Operation

    @Argument(help: "The number of operations.")
    var count: Int

    func run() throws {
        switch operation {
        case .hopPerform: try HopCosts().perform(count)
        case .hopPort: try HopCosts().send(count)
        case .timer: try TimerCosts.sleep(count)
        case .timerChange: TimerCosts.change(count)
        case .thread: LoopCosts.makeThreads(count) {}
        case .loop: LoopCosts.makeThreads(count) { RunLoopCreation.make() }
        case .setStream: try PortSetCosts.stream(count)
        case .setHop: try PortSetCosts.hop(count)
        case .redirected: try RedirectionCosts.post(count)
        case .datagram: try DatagramCosts.receive(count)
        case .requestBlocking: try RequestCosts().block(count)
        case .requestAwaited: try RequestCosts().wait(count)
        case .requestRemote: try RequestCosts.askRemotely(count)
        }
    }
}
