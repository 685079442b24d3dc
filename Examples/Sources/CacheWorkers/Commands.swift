import Glibc
import RunLoops

/// The lines of standard input.
final class Commands {
    private var text: [UInt8] = []
    private let perform: (String) -> Void

    init(perform: @escaping (String) -> Void) { self.perform = perform }

    /// Begins to read on the loop of this thread, whose run ends at the end of the input.
    func begin() throws {
        let source = DescriptorSource(STDIN_FILENO, interest: .read) { [self] source, _ in
            var part = [UInt8](repeating: 0, count: 4_096)
            let count = Glibc.read(STDIN_FILENO, &part, part.count)
            if count <= 0 {
                source.invalidate()
                return RunLoop.current.stop()
            }
            text += part.prefix(count)
            while let end = text.firstIndex(of: UInt8(ascii: "\n")) {
                let line = String(decoding: text[..<end], as: UTF8.self)
                text.removeSubrange(...end)
                perform(line)
            }
        }
        try RunLoop.current.add(source, forMode: .default)
    }
}
