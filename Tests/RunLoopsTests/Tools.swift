import RunLoops
import Testing

extension RunLoop {
    /// Makes one pass without sleeping.
    func pass(in mode: Mode = .default) { run(in: mode, until: .distantPast) }
}

extension ExitTest.Result {
    /// What the process wrote before it ended.
    var message: String { String(decoding: standardErrorContent, as: UTF8.self) }
}
