import Dispatch
import Glibc
import Testing

/// Each row is compared in a test of its own: all rows are equal, but for those with a reason.
@Suite(.serialized) struct ComparisonTests {
    private static let rows: [[Comparison]] = [
        inputRows, outputRows, endRows, openingRows, taskRows, handlerRows, optionRows, datagramRows,
        pipeRows,
    ]

    /// The rows, or those with a text in their names, if the environment names one.
    private static var chosenRows: [Comparison] {
        let all = Array(rows.joined())
        guard let text = getenv("COMPARISON").map({ String(cString: $0) }) else { return all }
        return all.filter { $0.name.contains(text) }
    }

    /// Calls a function on a thread of Dispatch: a row blocks its thread, and its tasks need those of Swift's pool.
    private static func onOtherThread<Value: Sendable>(
        _ body: @escaping @Sendable () throws -> Value
    ) async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async { continuation.resume(with: Result(catching: body)) }
        }
    }

    /// What a row shows on NIOPosix and on another kind of channel, until one text of the other kind is as expected: when several
    /// events arrive together, the kernel's timing decides which of them a channel sees first, on NIOPosix as on ours.
    private static func outcomes(
        of row: Comparison, on kind: Backend.Kind, tries: Int = 20
    ) async throws -> (onPosix: Set<String>, onKind: Set<String>) {
        var onPosix: Set<String> = []
        var onKind: Set<String> = []
        for _ in 1...tries {
            onPosix.insert(try await onOtherThread { try Backend.with(.posix, row.body) })
            onKind.insert(try await onOtherThread { try Backend.with(kind, row.body) })
            let expected = row.difference(on: kind).map { [$0.text] } ?? onPosix
            if !expected.isDisjoint(with: onKind) { break }
        }
        return (onPosix, onKind)
    }

    // Guarantees: A channel that does not read is told when its peer resets the connection.
    // Guarantees: The promise of a datagram is kept when the kernel has accepted it, and fails when the kernel has refused it; the
    // channel stays open.
    @Test(arguments: chosenRows) func `a channel behaves as on NIOPosix`(_ row: Comparison) async throws {
        for kind in Backend.Kind.allCases where row.concerns(kind) {
            let (onPosix, onKind) = try await ComparisonTests.outcomes(of: row, on: kind)
            #expect(onPosix.allSatisfy { !$0.contains("<no ") })
            if let difference = row.difference(on: kind) {
                #expect(onKind.contains(difference.text), "\(kind): \(onKind)")
                #expect(!onPosix.contains(difference.text), "the reason is gone: \(kind)")
            } else {
                #expect(!onKind.isDisjoint(with: onPosix), "\(kind): \(onKind); on NIOPosix: \(onPosix)")
            }
        }
    }
}
