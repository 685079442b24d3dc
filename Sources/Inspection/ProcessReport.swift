/// The loops of a process at one moment: the current work of each loop, the time since that work began, and the work that waits.
///
/// ```swift
/// let report = ProcessReport(recorder: recorder)
/// for loop in report.loops where loop.isBlocked { log(loop.name, loop.call?.madeAt ?? "") }
/// ```
///
/// Each loop is sent a block, in which the loop reports its inputs. For a loop that does not run the block within the time that the
/// caller waits, the report contains only what another thread can see. So a report is possible even while every loop is stuck, and
/// it names the handlers in which the loops are stuck. A report contains the names of loops, source locations, and numbers,
/// but never the contents of messages.
///
/// The JSON form, ``json``, has more than the members below: the counts of each loop, its inputs, the waits of threads, and the
/// events of the last seconds. Keys can be added to it.
///
/// > Thread safety: a value.
public struct ProcessReport: Sendable {
    /// The system's ID of the process.
    public internal(set) var processID: Int32
    /// The name of the program according to the kernel, up to 15 bytes.
    public internal(set) var program: String
    /// The moment of the report on `CLOCK_BOOTTIME`, in nanoseconds.
    package var date: Int64
    /// The loops that have not ended, in the order in which they were made.
    public internal(set) var loops: [Loop]
    /// The blocking calls in progress, for every thread that could be part of a circle of waits.
    package var waits: [Wait]
    /// The events of the last seconds, from the flight recorder; nil if there is no recorder.
    package var recent: Recent?
}

extension ProcessReport {
    /// A loop of the process, as it was at the moment of the report.
    ///
    /// > Thread safety: a value.
    public struct Loop: Sendable {
        /// The name; empty for a loop without a name.
        public internal(set) var name: String
        /// The system's ID of the loop's thread.
        public internal(set) var threadID: Int32
        /// True if this is the main thread's loop.
        public internal(set) var isMain: Bool
        /// True if the loop did not answer in time, and was calling the same handler all that time.
        public internal(set) var isBlocked: Bool
        /// The handler that the loop was calling; nil if the loop was calling no handler, or if that handler was itself running the
        /// loop.
        public internal(set) var call: Call?
        /// The time since the loop last waited for work, in nanoseconds; nil if the loop was waiting, or not running.
        package var busyNanoseconds: Int64?
        /// The number of blocks, jobs, deliveries and ready inputs that the loop has not begun to serve.
        public internal(set) var pendingCount: Int
        /// The counts of the loop's work since the loop was made.
        package var counts: Counts
        /// The details that the loop itself reported; nil if its report did not arrive in time.
        package var details: Details?

        /// The time since the loop last waited for work; nil if the loop was waiting, or not running.
        public var busyFor: Duration? { busyNanoseconds.map { .nanoseconds($0) } }
    }

    /// The handler that a loop was calling.
    ///
    /// > Thread safety: a value.
    public struct Call: Sendable {
        /// The kind of the handler, in words.
        public internal(set) var kind: String
        /// The source location at which the block, timer, source, port or observer was made.
        public internal(set) var madeAt: String
        /// The time since the call began, in nanoseconds; nil as for ``duration``.
        package var nanoseconds: Int64?

        /// The time since the call began, from the flight recorder; nil without a recorder, or if the call was not recorded.
        public var duration: Duration? { nanoseconds.map { .nanoseconds($0) } }
    }

    /// The counts of a loop's work since the loop was made.
    package struct Counts: Hashable, Sendable {
        var values: [Key: Int64] = [:]

        /// The count with a key, 0 if the process that made the report does not have it; times are in nanoseconds.
        package subscript(key: Key) -> Int64 { values[key] ?? 0 }
    }

    /// The details that a loop reports about itself.
    package struct Details: Codable, Hashable, Sendable {
        /// The mode in which the loop runs, `default` for the default mode; nil between runs.
        package var mode: String?
        /// The number of runs of the loop that are nested on the thread's stack.
        package var depth: Int
        /// The names of the loop's common modes.
        package var commonModes: [String]
        /// The inputs of the loop, in no particular order.
        package var inputs: [Input]
    }

    /// An input of a loop.
    package struct Input: Codable, Hashable, Sendable {
        /// The kind: `timer`, `port`, `descriptor`, `manual source`, `observer`, or a kind that another module defines, such as
        /// `listener`, `connection`, `message port` or `notification observers`.
        package var kind: String
        /// The source location at which the input was made.
        ///
        /// All listeners that were made at the same location are reported as one input. The same applies to connections. If a
        /// reported input stands for several inputs from different locations, its location is empty.
        package var madeAt: String
        /// The names of the modes that the input is in.
        package var modes: [String]
        /// For a timer, the time until its next fire; negative if the fire is late, nil if no fire is planned.
        package var dueIn: Int64?
        /// For a timer, its interval; 0 if it does not repeat.
        package var interval: Int64?
        /// For a repeating timer, the number of fires that it missed.
        package var missed: Int?
        /// For a port, the number of messages that wait for the loop.
        package var count: Int?
        /// For a port, the maximum number of messages that it holds; nil if it has no limit, or if it is a port of signals.
        package var limit: Int?
        /// For a port, the number of senders that wait for room.
        package var waitingSenders: Int?
        /// For a descriptor source, its descriptor.
        package var descriptor: Int32?
        /// The counts that another module reports, for an input of a kind that the other module defines.
        package var counts: [Count]?
    }

    /// A named count that describes an input.
    package struct Count: Codable, Hashable, Sendable {
        /// The name, such as `connections` or `dropped`.
        package var name: String
        /// The value of the count.
        package var value: Int
    }

    /// A thread that waits for other threads.
    package struct Wait: Codable, Hashable, Sendable {
        /// The name of the waiting thread's loop; nil for a thread without a loop.
        package var loop: String?
        /// The blocking member that the thread has called, such as `RunLoop.performAndWait`.
        package var operation: String
        /// The source location of the call.
        package var madeAt: String
        /// The names of the loops that the thread waits for.
        package var waitsFor: [String]
        /// True if the wait has a deadline.
        package var hasDeadline: Bool
        /// True if the thread is part of a circle of threads, each of which waits for the next one.
        package var isInCircle: Bool
    }
}
