internal import ArgumentParser
internal import RunLoops

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
        /// A post through a hub to one observer, all in this process.
        case hub
        /// A request that a connection answers, one under way; the instructions of the client in C are included.
        case connection
        /// A request that a connection answers, 16 under way.
        case connectionDeep = "connection-deep"
        /// A request of libcurl alone, 32 under way, which the next two include.
        case httpCurl = "http-curl"
        /// A request of an HTTP client with handlers, 32 under way.
        case httpHandlers = "http-handlers"
        /// A request of an HTTP client in a task, 32 under way.
        case httpTasks = "http-tasks"
        /// A message to a port, one of many that wait.
        case portStream = "port-stream"
        /// The same with a flight recorder.
        case portStreamRecorded = "port-stream-recorded"
        /// ``hopPerform`` with a flight recorder.
        case hopRecorded = "hop-recorded"
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
        case .hub: try NetworkCosts.post(count)
        case .connection: try NetworkCosts.ask(count, depth: 1)
        case .connectionDeep: try NetworkCosts.ask(count, depth: 16)
        case .httpCurl, .httpHandlers, .httpTasks: try HTTPRequests.make(count, operation)
        case .portStream: try PortCosts.stream(count)
        case .portStreamRecorded: try recorded { try PortCosts.stream(count) }
        case .hopRecorded: try recorded { try HopCosts().perform(count) }
        }
    }
    /// Runs an operation while a flight recorder records.
    private func recorded(_ body: () throws -> Void) throws {
        let recorder = try FlightRecorder()
        defer { recorder.stop() }
        try body()
    }
}
