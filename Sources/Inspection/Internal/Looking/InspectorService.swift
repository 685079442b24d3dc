internal import Glibc
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

/// The service that answers the requests to an inspector.
///
/// All who ask the same question within a while get the same answer. So the number of requests does not matter to the loops of the
/// process, and the number of answers that nobody reads does not matter to its memory.
///
/// > Thread safety: the inspector's thread.
final class InspectorService {
    private let recorder: FlightRecorder?
    private var answers: [InspectorQuestion: Answer] = [:]
    /// The refusals, each with the time until which it is given.
    private var refusals: [InspectorQuestion: (refusal: Refusal, end: ContinuousClock.Instant)] = [:]
    /// The answers that were replaced, oldest first; processes that have got them can still read them.
    private var replaced: [Answer] = []

    /// An answer in a file in memory.
    private final class Answer {
        let file: OwnedDescriptor
        /// The time until which the answer is given.
        let end: ContinuousClock.Instant

        init(_ file: consuming OwnedDescriptor, until end: ContinuousClock.Instant) {
            self.file = file
            self.end = end
        }
    }

    /// The maximum number of answers of which the memory is kept although they were replaced.
    private static let mostReplaced = 8
    private static let shortestValidity = Duration.milliseconds(100)
    private static let longestValidity = Duration.seconds(2)

    init(_ recorder: FlightRecorder?) { self.recorder = recorder }

    /// Answers a request; any other message is discarded.
    func answer(_ message: consuming MessagePort.Message) {
        if !message.isRequest { return }
        let id = message.id
        let answer: Result<Answer, any Error>
        do { answer = .success(try self.answer(to: id)) } catch { answer = .failure(error) }
        do {
            switch answer {
            case .success(let answer): try message.reply(id: id, descriptors: [answer.file.descriptor])
            case .failure(let error): try message.reply(Array("\(error)".utf8))
            }
        } catch {
            // If the other process has ended, no process needs the answer.
        }
    }

    private struct Refusal: Error, CustomStringConvertible {
        let description: String
    }

    private func answer(to id: UInt32) throws -> Answer {
        guard let question = InspectorQuestion(rawValue: id) else {
            throw Refusal(description: "this inspector does not know the question \(id)")
        }
        let begin = ContinuousClock.now
        if let known = answers[question], begin < known.end { return known }
        if let known = refusals[question], begin < known.end { throw known.refusal }
        do {
            let file = try file(for: question)
            let answer = Answer(file, until: InspectorService.end(of: begin))
            if let old = answers.updateValue(answer, forKey: question) { retire(old) }
            return answer
        } catch {
            let refusal = Refusal(description: "\(error)")
            refusals[question] = (refusal, InspectorService.end(of: begin))
            throw refusal
        }
    }

    /// Returns the time until which an answer is given that has just been made.
    ///
    /// An answer that took long is given for longer, so that making answers takes a small share of the thread's time.
    private static func end(of begin: ContinuousClock.Instant) -> ContinuousClock.Instant {
        let now = ContinuousClock.now
        return now + min(max((now - begin) * 4, shortestValidity), longestValidity)
    }

    private func file(for question: InspectorQuestion) throws -> OwnedDescriptor {
        guard let bytes = bytes(for: question) else {
            throw Refusal(description: "the process has no flight recorder")
        }
        let file = try OwnedDescriptor.memory(name: "inspection")
        try file.descriptor.write(bytes)
        return file
    }

    /// Keeps an answer that was replaced for those who have got it, and takes back the memory of the oldest such answer.
    private func retire(_ answer: Answer) {
        replaced.append(answer)
        if replaced.count <= InspectorService.mostReplaced { return }
        // If a process has not read this answer yet, it finds the file empty.
        _ = ftruncate(replaced.removeFirst().file.descriptor, 0)
    }

    private func bytes(for question: InspectorQuestion) -> [UInt8]? {
        guard let format = question.format else { return Array(ProcessReport(recorder: recorder).json.utf8) }
        return recorder?.snapshot().bytes(as: format)
    }
}
