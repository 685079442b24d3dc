import CoreFoundation
import Foundation
import FoundationRunLoops
import TestExpectations
import TestSupport
import Testing

/// Reports of what a loop holds that has never run, when its thread ends.
@Suite struct UnservedFoundationTests {
    /// The kinds of objects.
    enum Kind: String, Codable, CaseIterable {
        case scheduledTimer, addedTimer, commonTimer, block, modeBlock, port, commonPort

        /// Gives an object of the kind to the current loop.
        ///
        /// - Returns: The line.
        fileprivate func add() -> Int {
            let loop = RunLoop.current
            switch self {
            case .scheduledTimer:
                Timer.scheduledTimer(withTimeInterval: 1, repeats: true) { _ in }
                return #line - 1
            case .addedTimer, .commonTimer:
                let timer = Timer(timeInterval: 1, repeats: true) { _ in }
                loop.add(timer, forMode: self == .addedTimer ? .default : .common)
                return #line - 2
            case .block:
                loop.perform {}
                return #line - 1
            case .modeBlock:
                loop.perform(inModes: [.default, .common]) {}
                return #line - 1
            case .port, .commonPort:
                loop.add(Port(), forMode: self == .port ? .default : .common)
                return #line - 1
            }
        }
    }

    // Guarantees: When a thread ends whose loop has never run, each place where inputs of the loop were made, and each block, is
    // reported once; of more than eight, the rest is reported as a number.
    @Test(arguments: Kind.allCases)
    func `a timer, block or port that was never served is reported once, with its place`(kind: Kind) async {
        await #expect(processExitsWith: .success) { [kind] in
            let added = Log<Int>()
            let lines = try unservedLines { added.add(kind.add()) }
            #expect(lines.count == 1, "\(lines)")
            let place = " at FoundationRunLoopsTests/UnservedFoundationTests.swift:\(added.entries[0]);"
            #expect(lines.allSatisfy { $0.contains(place) }, "\(lines)")
        }
    }

    /// A port that puts itself into a loop.
    private final class SelfSchedulingPort: Port {
        override init() {
            super.init()
            schedule(in: .current, forMode: .default)
        }
    }

    @Test func `a port that puts itself into a loop is reported once, with the member it has called`() async {
        await #expect(processExitsWith: .success) {
            let lines = try unservedLines { _ = SelfSchedulingPort() }
            #expect(lines.count == 1, "\(lines)")
            #expect(lines.allSatisfy { $0.contains("served: port made at Port.schedule(in:forMode:);") })
        }
    }

    @Test func `a block of CFRunLoopPerformBlock that was never run is reported once, without a place`() async
    {
        await #expect(processExitsWith: .success) {
            let lines = try unservedLines {
                CFRunLoopPerformBlock(CFRunLoopGetCurrent(), kCFRunLoopDefaultMode) {}
            }
            #expect(lines.count == 1, "\(lines)")
            #expect(lines.allSatisfy { $0.contains("served: block of CFRunLoopPerformBlock;") })
        }
    }
}
