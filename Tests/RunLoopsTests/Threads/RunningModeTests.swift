import TestExpectations
import TestSupport
import Testing

@testable import RunLoops

/// The mode of a run, as other threads read it.
@Suite struct RunningModeTests {
    @Test func `every thread reads the mode of the innermost run, and nil between runs`() throws {
        let loops = Log<RunLoop>()
        let modes = [RunLoop.Mode.default, RunLoop.Mode("first"), RunLoop.Mode("second")]
        try onLoopThread { loop in
            loops.add(loop)
            @Sendable func read() throws -> RunLoop.Mode? {
                let seen = Log<RunLoop.Mode?>()
                try BareThread { seen.add(loop.currentMode) }.join()
                return seen.entries[0]
            }
            #expect(try read() == nil)
            @Sendable func run(_ rest: ArraySlice<RunLoop.Mode>) throws {
                guard let mode = rest.first else { return }
                loop.perform(inModes: [mode]) {
                    do {
                        #expect(try read() == mode)
                        try run(rest.dropFirst())
                        #expect(try read() == mode)
                        #expect(loop.currentMode == mode)
                    } catch { Issue.record(error) }
                }
                loop.run(in: mode, until: .distantPast)
            }
            try run(modes[...])
            #expect(try read() == nil)
        }
        #expect(loops.entries[0].currentMode == nil)
    }
}
