import Glibc
import RunLoops
import TestSupport

/// A library of pipes that reads from reported descriptors, and records each call of its service.
final class PipeLibrary {
    /// The arguments of a call of the service.
    struct Call: Equatable {
        var reports: [LibrarySource.Report] = []
        var isDue = false
        var descriptors: [CInt] { reports.map(\.descriptor).sorted() }
    }

    private(set) var source: LibrarySource
    var calls: [Call] = []
    private(set) var invalidations = 0
    /// Called after the reports of a call.
    var afterReports: (LibrarySource) -> Void = { _ in }
    /// Called with each report, after the descriptor was read.
    var onReport: (LibrarySource, LibrarySource.Report) -> Void = { _, _ in }
    var drains = true

    /// Makes a library whose source is in no loop.
    init() throws {
        weak var library: PipeLibrary?
        source = try LibrarySource(onInvalidation: { library?.invalidations += 1 }) { library?.serve($0) }
        library = self
    }

    private func serve(_ source: LibrarySource) {
        calls.append(Call(isDue: source.deadlineHasPassed))
        let number = calls.count - 1
        while let report = source.nextReport() {
            calls[number].reports.append(report)
            var bytes = [UInt8](repeating: 0, count: 64)
            // Safe: the kernel writes at most the length of the array.
            if drains { _ = unsafe read(report.descriptor, &bytes, bytes.count) }
            onReport(source, report)
        }
        afterReports(source)
    }
}

extension LibrarySource.Report {
    /// True if the report has this readiness and this descriptor.
    func says(_ readiness: DescriptorSource.Readiness, of descriptor: CInt) -> Bool {
        self.descriptor == descriptor && self.readiness == readiness
    }
}
