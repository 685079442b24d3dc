import Glibc
import RunLoops

/// Two pipes, as between a process and its child.
struct ChildPipes {
    private let near: (input: CInt, output: CInt)
    private let far: (input: CInt, output: CInt)

    init() {
        var (down, up): ([CInt], [CInt]) = ([0, 0], [0, 0])
        if pipe(&down) != 0 || pipe(&up) != 0 { fatalError("pipe: \(errno)") }
        near = (up[0], down[1])
        far = (down[0], up[1])
    }

    /// The end of the child's output, to be owned once.
    func fromChild() -> OwnedDescriptor { OwnedDescriptor(near.input) }

    /// The end of the child's input, to be owned once.
    func toChild() -> OwnedDescriptor { OwnedDescriptor(near.output) }

    /// The same ends for SwiftNIO's bootstrap.
    var nearEnds: (input: CInt, output: CInt) { near }

    // What the child does.

    func send(_ text: String) { _ = write(far.output, text, text.utf8.count) }
    func endOutput() { close(far.output) }
    func endInput() { close(far.input) }

    /// Reads until this many bytes have come, or the end.
    func read(_ count: Int) -> [UInt8] {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while bytes.count < count {
            let received = Glibc.read(far.input, &buffer, min(buffer.count, count - bytes.count))
            if received <= 0 { break }
            bytes += buffer[..<received]
        }
        return bytes
    }

    /// What comes until the end.
    func rest() -> String { String(decoding: read(.max), as: UTF8.self) }
}
