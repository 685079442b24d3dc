import Glibc
import MessagePorts
import RunLoops
import TestSupport

@testable import Inspection

/// A port with the name of this process's inspector, which answers what a test wants.
final class FakeInspector: Sendable {
    private let port: MessagePort
    private let thread: RunLoopThread

    /// The answer to each question.
    enum Answer: Sendable {
        /// A refusal.
        case text([UInt8])
        /// The contents of a file.
        case file([UInt8])
    }

    init(_ answer: Answer) throws {
        port = try MessagePort(named: Inspector.name(of: getpid()))
        thread = try RunLoopThread(name: "fake")
        try thread.runLoop.performAndWait { [port] in
            try RunLoop.current.add(port, forMode: .default) { message in
                do {
                    switch answer {
                    case .text(let bytes): try message.reply(bytes)
                    case .file(let bytes):
                        let file = try OwnedDescriptor.memory()
                        try file.descriptor.write(bytes)
                        try message.reply(descriptors: [file.descriptor])
                    }
                } catch { print("a fake inspector cannot reply: \(error)") }
            }
        }
    }

    deinit { stop() }

    func stop() {
        port.invalidate()
        thread.stop()
        thread.join()
    }
}
