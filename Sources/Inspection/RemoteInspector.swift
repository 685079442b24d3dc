internal import Glibc
public import MessagePorts
internal import RunLoops

/// A connection to the inspector of another process, or of this one.
///
/// ```swift
/// let inspector = try RemoteInspector(process: 4711)
/// print(try inspector.report().text())
/// ```
///
/// > Thread safety: any thread.
public final class RemoteInspector: Sendable {
    /// The system's ID of the process.
    public let process: Int32
    private let port: RemotePort

    /// The reason that a process cannot be inspected.
    ///
    /// > Thread safety: a value.
    public enum Failure: Error, Hashable, Sendable, CustomStringConvertible {
        /// The process has no inspector, or the inspector did not answer in time.
        case port(MessagePortError)
        /// The process that listens under the name of the inspector is not the requested one, and has these credentials.
        case notTheProcess(PeerCredentials)
        /// The inspector has refused to answer, for the reason in the text.
        case refused(String)
        /// The answer does not have the form that an inspector of this version sends; the text says why.
        case malformed(String)

        /// The failure in words.
        public var description: String {
            switch self {
            case .port(.name(let error)): "the process has no inspector: \(error)"
            case .port(let error): "\(error)"
            case .notTheProcess(let credentials): "the inspector's name is taken by \(credentials)"
            case .refused(let reason): reason
            case .malformed(let reason): "the answer is not that of an inspector: \(reason)"
            }
        }
    }

    /// Connects to the inspector of a process.
    ///
    /// - Parameters:
    ///   - process: The system's ID of the process.
    ///   - patience: The longest time to wait for the connection.
    /// - Throws: ``Failure``.
    public init(process: Int32, patience: Duration = .seconds(5)) throws(Failure) {
        self.process = process
        do { port = try RemotePort(named: Inspector.name(of: process), before: .now + patience) } catch {
            throw .port(error)
        }
        if port.peer.processID != process { throw .notTheProcess(port.peer) }
    }

    /// Asks the inspector for a report.
    ///
    /// - Parameter patience: The longest time to wait for the report.
    /// - Returns: The report.
    /// - Throws: ``Failure``.
    @available(*, noasync, message: "it blocks the thread; call it on a thread of yours")
    public func report(patience: Duration = .seconds(5)) throws(Failure) -> ProcessReport {
        let bytes = try ask(.report, patience)
        do { return try ProcessReport(json: bytes) } catch { throw .malformed("\(error)") }
    }

    /// Asks the inspector for the recording of the last seconds.
    ///
    /// - Parameters:
    ///   - format: The format.
    ///   - patience: The longest time to wait for the recording.
    /// - Returns: The bytes of a file.
    /// - Throws: ``Failure``; ``Failure/refused(_:)`` if the process has no flight recorder.
    @available(*, noasync, message: "it blocks the thread; call it on a thread of yours")
    public func recording(as format: TraceFormat, patience: Duration = .seconds(30)) throws(Failure)
        -> [UInt8]
    {
        try ask(InspectorQuestion(format), patience)
    }

    private func ask(_ question: InspectorQuestion, _ patience: Duration) throws(Failure) -> [UInt8] {
        var reply: MessagePort.Message
        do { reply = try port.request(id: question.rawValue, before: .now + patience) } catch {
            throw .port(error)
        }
        guard let file = reply.descriptors.takeFirst() else {
            throw .refused(String(decoding: reply.bytes.prefix(1000), as: UTF8.self))
        }
        return try RemoteInspector.contents(of: file)
    }

    /// The maximum number of bytes of an answer.
    ///
    /// The limit protects this process if the other process is not really an inspector.
    private static let mostBytes = 1 << 30

    /// Returns the whole contents of the file that a descriptor refers to.
    private static func contents(of file: borrowing OwnedDescriptor) throws(Failure) -> [UInt8] {
        let descriptor = file.descriptor
        var status = stat()
        // Safe: the kernel fills `status`, which is ours.
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .malformed("it is not a file")
        }
        let size = Int(status.st_size)
        guard size <= mostBytes else { throw .malformed("it has \(size) bytes") }
        var count = 0
        // The file is read, not mapped: the other process could truncate a mapped file, and so end this process.
        let bytes = unsafe [UInt8](unsafeUninitializedCapacity: size) { buffer, filled in
            while count < size {
                // Safe: `count` and `size` keep the bytes that are read within the buffer.
                let read = unsafe pread(descriptor, buffer.baseAddress! + count, size - count, off_t(count))
                if read < 0 && errno == EINTR { continue }
                if read <= 0 { break }
                count += read
            }
            filled = count
        }
        guard bytes.count == size else { throw .malformed("it ends after \(bytes.count) of \(size) bytes") }
        return bytes
    }
}

extension RemoteInspector {
    /// The IDs of the processes in this network namespace that have an inspector.
    ///
    /// Some of these can be processes of other users, whose inspectors do not answer this process.
    public static var processes: [Int32] {
        guard let table = ProcessFile.text(of: "/proc/net/unix") else { return [] }
        let all = table.split(separator: "\n").compactMap { line -> Int32? in
            guard let name = line.split(separator: " ").last, name.hasPrefix("@\(Inspector.prefix)") else {
                return nil
            }
            return Int32(name.dropFirst(Inspector.prefix.count + 1))
        }
        return Set(all).sorted()
    }
}
