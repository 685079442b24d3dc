internal import MessagePorts
internal import RunLoops

/// The questions that an inspector answers.
///
/// The raw value of a question is the ID of the request that asks it. The reply carries the descriptor of a file in memory, which
/// contains the answer. If the inspector refuses to answer, the reply carries no descriptor, and its bytes are a text with the
/// reason.
enum InspectorQuestion: UInt32, CaseIterable {
    case report = 1
    case perfetto
    case chromeJSON
    case page

    init(_ format: TraceFormat) {
        switch format {
        case .perfetto: self = .perfetto
        case .chromeJSON: self = .chromeJSON
        case .page: self = .page
        }
    }

    /// The format of the recording that the question asks for; nil if it asks for the report.
    var format: TraceFormat? {
        switch self {
        case .report: nil
        case .perfetto: .perfetto
        case .chromeJSON: .chromeJSON
        case .page: .page
        }
    }
}

/// The service that answers the requests to an inspector, on the inspector's thread.
struct InspectorService: Sendable {
    private let recorder: FlightRecorder?

    init(_ recorder: FlightRecorder?) { self.recorder = recorder }

    /// Answers a request; any other message is discarded.
    func answer(_ message: consuming MessagePort.Message) {
        if !message.isRequest { return }
        let id = message.id
        do {
            let file = try file(for: id)
            try? message.reply(id: id, descriptors: [file.descriptor])
        } catch {
            // Errors in sending this reply or the one above are ignored: if the other process has ended, no process needs the
            // answer.
            try? message.reply(Array("\(error)".utf8))
        }
    }

    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    private func file(for id: UInt32) throws -> OwnedDescriptor {
        guard let question = InspectorQuestion(rawValue: id) else {
            throw Refusal(description: "this inspector does not know the question \(id)")
        }
        guard let bytes = bytes(for: question) else {
            throw Refusal(description: "the process has no flight recorder")
        }
        let file = try OwnedDescriptor.memory(name: "inspection")
        try file.descriptor.write(bytes)
        return file
    }

    private func bytes(for question: InspectorQuestion) -> [UInt8]? {
        guard let format = question.format else { return Array(ProcessReport(recorder: recorder).json.utf8) }
        return recorder?.snapshot().bytes(as: format)
    }
}
