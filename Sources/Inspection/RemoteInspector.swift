internal import Glibc
internal import MessagePorts
internal import RunLoops

/// A connection to the inspector of another process, or of this one.
///
/// ```swift
/// let inspector = try RemoteInspector(processID: 4711)
/// print(try inspector.report().text())
/// ```
///
/// > Thread safety: any thread.
public final class RemoteInspector: Sendable {
    /// The system's ID of the process.
    public let processID: Int32
    private let port: RemotePort

    /// Connects to the inspector of a process.
    ///
    /// - Parameters:
    ///   - processID: The system's ID of the process.
    ///   - timeout: The longest time to wait for the connection.
    /// - Throws: ``RemoteInspectorError``.
    public init(processID: Int32, timeout: Duration = .seconds(5)) throws(RemoteInspectorError) {
        self.processID = processID
        do { port = try RemotePort(named: Inspector.name(of: processID), before: .now + timeout) } catch {
            if error.reason == .name, !ProcessFile.exists(processID) {
                throw .init(.noProcess, processID: processID)
            }
            throw .port(error)
        }
        if port.peer.processID != processID { throw .init(.notTheProcess, peer: port.peer) }
    }

    /// Asks the inspector for a report.
    ///
    /// - Parameter timeout: The longest time to wait for the report.
    /// - Returns: The report.
    /// - Throws: ``RemoteInspectorError``.
    @available(*, noasync, message: "it blocks the thread; call it on a thread of yours")
    public func report(timeout: Duration = .seconds(5)) throws(RemoteInspectorError) -> ProcessReport {
        let bytes = try ask(.report, timeout)
        let report: ProcessReport
        do { report = try ProcessReport(json: bytes) } catch {
            throw .malformed(ForeignText("\(error)").description)
        }
        if report.processID != processID {
            throw .malformed("it is the report of process \(report.processID)")
        }
        return report
    }

    /// Asks the inspector for the recording of the last seconds.
    ///
    /// - Parameters:
    ///   - format: The format.
    ///   - timeout: The longest time to wait for the recording.
    /// - Returns: The bytes of a file, which the other process has made. Of a page it has made only the recording, which consists
    ///   of checked texts and numbers: the markup and the scripts are those of this process, and can load nothing.
    /// - Throws: ``RemoteInspectorError``; its reason is ``RemoteInspectorError/Reason/refused`` if the process has no flight
    ///   recorder.
    @available(*, noasync, message: "it blocks the thread; call it on a thread of yours")
    public func recording(as format: TraceFormat, timeout: Duration = .seconds(30))
        throws(RemoteInspectorError)
        -> [UInt8]
    {
        let bytes = try ask(InspectorQuestion(format), timeout)
        if format != .page { return bytes }
        do throws(ForeignJSON.Violation) { return Array(try TimelinePage(foreign: bytes).text.utf8) } catch {
            throw .malformed(error.reason)
        }
    }

    private func ask(_ question: InspectorQuestion, _ timeout: Duration) throws(RemoteInspectorError)
        -> [UInt8]
    {
        var reply: MessagePort.Message
        do { reply = try port.request(id: question.rawValue, before: .now + timeout) } catch {
            throw .port(error)
        }
        guard let file = reply.descriptors.takeFirst() else {
            throw .refused(ForeignText(utf8: reply.bytes).description)
        }
        return try RemoteInspector.contents(
            of: file, atMost: question == .report ? ForeignJSON.mostBytes : RemoteInspector.mostRecordingBytes
        )
    }

    /// The maximum number of bytes of a recording; the page of the largest one takes about 30 MiB.
    ///
    /// The limit protects this process if the other process is not really an inspector.
    private static let mostRecordingBytes = 256 << 20

    /// Returns the whole contents of the file that a descriptor refers to.
    private static func contents(
        of file: borrowing OwnedDescriptor, atMost mostBytes: Int
    ) throws(RemoteInspectorError) -> [UInt8] {
        let descriptor = file.descriptor
        var status = stat()
        // Safe: the kernel fills `status`, which is ours.
        guard unsafe fstat(descriptor, &status) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .malformed("it is not a file")
        }
        let size = Int(status.st_size)
        guard 0...mostBytes ~= size else { throw .malformed("it has \(size) bytes") }
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
    public static var processIDs: [Int32] {
        guard let table = ProcessFile.text(of: "/proc/net/unix") else { return [] }
        let all = table.split(separator: "\n").compactMap { line -> Int32? in
            guard let name = line.split(separator: " ").last, name.hasPrefix("@\(Inspector.prefix)") else {
                return nil
            }
            let digits = name.dropFirst(Inspector.prefix.count + 1)
            // Another process can listen at any name.
            guard let process = Int32(digits), process > 0, "\(process)" == digits else { return nil }
            return process
        }
        return Set(all).sorted()
    }
}
