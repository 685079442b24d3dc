import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The names of modes, which are numbers inside.
@Suite struct ModeNameTests {
    @Test func `modes are the same if their names are, and have their names`() {
        let names = [
            "", "a", "b", "ab", "kCFRunLoopDefaultMode2", "a\0", "a\0b", "Grüße",
            String(repeating: "long", count: 10_000),
        ]
        let modes = names.map { RunLoop.Mode($0) }
        #expect(Set(modes).count == names.count)
        for (mode, name) in zip(modes, names) {
            #expect(mode == RunLoop.Mode(rawValue: String(name.reversed().reversed())))
            #expect(mode.rawValue == name && "\(mode)" == name)
        }
        #expect(
            RunLoop.Mode("kCFRunLoopDefaultMode") == .default
                && RunLoop.Mode.default.rawValue == "kCFRunLoopDefaultMode")
        #expect(
            RunLoop.Mode("kCFRunLoopCommonModes") == .common
                && RunLoop.Mode.common.rawValue == "kCFRunLoopCommonModes")
    }

    @Test func `a name that many threads use for the first time has one number`() throws {
        let (threadCount, nameCount) = (4, 2_000)
        let numbers = Log<[UInt]>()
        let begin = Gate()
        let threads = try Threads(threadCount) { _ in
            #expect(begin.wait())
            numbers.add((0..<nameCount).map { RunLoop.Mode("raced \($0)").number })
        }
        begin.open()
        try threads.join()
        #expect(numbers.entries.count == threadCount)
        #expect(Set(numbers.entries).count == 1)
        #expect(Set(numbers.entries[0]).count == nameCount)
    }

    @Test func `a forked child finds the modes of its parent, and makes others`() async {
        await #expect(processExitsWith: .success) {
            let mode = RunLoop.Mode("parent")
            let ending = Child {
                guard RunLoop.Mode("parent") == mode, mode.rawValue == "parent" else { return 1 }
                return RunLoop.Mode("child") == RunLoop.Mode("child") ? 0 : 2
            }.wait()
            #expect(ending == .exited(0))
        }
    }
}
