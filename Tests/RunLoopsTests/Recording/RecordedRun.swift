import TestSupport
import Testing

@testable import RunLoops

/// A recording of a test.
enum RecordedRun {
    /// Records during a call.
    ///
    /// - Parameters:
    ///   - detail: The amount of detail.
    ///   - bytes: The memory for the events.
    ///   - body: The function to call with the recorder.
    /// - Returns: The result of the body.
    /// - Throws: The error of the body.
    static func run<Result>(
        _ detail: FlightRecorder.Detail = .everything, atMost bytes: Int = 8 << 20,
        _ body: (FlightRecorder) throws -> Result
    ) throws -> Result {
        let recorder = try FlightRecorder(byteLimit: bytes, detail: detail)
        defer { recorder.stop() }
        return try body(recorder)
    }
}

extension FlightRecorder.Snapshot {
    /// The events of all threads, each thread's in their order.
    var events: [FlightRecorder.Event] { threads.flatMap(\.events) }

    /// The last thread with this name.
    func thread(_ name: String) throws -> Thread { try #require(threads.last { $0.name == name }) }

    /// The calls of handlers of this kind that were made at a line of a test file.
    func handlers(_ kind: RunLoop.HandlerKind, _ line: Int) -> [FlightRecorder.Event] {
        events.filter { $0.kind == .handler(kind) && $0.place.hasSuffix(":\(line)") }
    }
}

extension FlightRecorder.Event {
    var isPost: Bool { if case .post = kind { true } else { false } }
    var isRun: Bool { if case .run = kind { true } else { false } }
    var isSleep: Bool { if case .sleep = kind { true } else { false } }
}
