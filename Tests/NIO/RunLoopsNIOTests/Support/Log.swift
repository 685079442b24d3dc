import Dispatch
import Glibc
import NIOConcurrencyHelpers
import NIOCore
import Testing

/// The number of seconds after which a test counts as one that hangs.
let waitLimit = getenv("WAIT_LIMIT").flatMap { Double(String(cString: $0)) } ?? 20

/// Words in the order in which several threads note them.
final class Log: Sendable {
    private let words = NIOLockedValueBox<[String]>([])
    private let news = DispatchSemaphore(value: 0)

    func note(_ word: String) {
        words.withLockedValue { $0.append(word) }
        news.signal()
    }

    var text: String { words.withLockedValue { $0.joined(separator: " ") } }

    /// Waits until a word was noted a number of times; the deadline only catches a test that hangs.
    func wait(for word: String, times count: Int = 1) {
        while words.withLockedValue({ $0.count { $0 == word } }) < count {
            if news.wait(timeout: .now() + waitLimit) == .timedOut {
                Issue.record("no word \(word) came: \(text)")
                return note("<no \(word)>")
            }
        }
    }

    /// Notes the result of a future.
    func note<Value: Sendable>(_ word: String, _ future: EventLoopFuture<Value>) {
        future.whenComplete { result in
            switch result {
            case .success: self.note("\(word):ok")
            case .failure(let error): self.note("\(word):\(name(of: error))")
            }
        }
    }
}

/// A value that a handler puts down for the thread of the test.
final class Place<Value: Sendable>: Sendable {
    private let contents = NIOLockedValueBox<Value?>(nil)
    private let isThere = DispatchSemaphore(value: 0)

    func put(_ value: Value) {
        contents.withLockedValue { $0 = value }
        isThere.signal()
    }

    /// The value, for which the call waits.
    func get() -> Value {
        if let value = contents.withLockedValue({ $0 }) { return value }
        if isThere.wait(timeout: .now() + waitLimit) == .timedOut { fatalError("the value did not come") }
        isThere.signal()
        guard let value = contents.withLockedValue({ $0 }) else { fatalError("the value was put down") }
        return value
    }
}

/// An error as a word; the words of the system's errors differ, and their numbers do not.
func name(of error: any Error) -> String {
    if let error = error as? IOError { return "errno-\(error.errnoCode)" }
    return "\(error)".split(separator: " ").joined(separator: "-")
}

func result<Value: Sendable>(_ future: EventLoopFuture<Value>) -> String {
    do {
        _ = try future.wait()
        return "ok"
    } catch { return name(of: error) }
}
