import Glibc
import RunLoops
import TestExpectations
import TestSupport
import Testing

@testable import Inspection

/// A forked child leaves the inspector of its parent as it is.
@Suite(.disabled(if: ForcedRecording.isOn)) struct InspectorForkTests {
    @Test(arguments: [true, false])
    func `an inspector that a forked child stops or releases answers in the parent`(isStop: Bool) async {
        await #expect(processExitsWith: .success) { [isStop] in
            try BareThread {
                do {
                    let inspector = Log<Inspector>()
                    inspector.add(try Inspector())
                    let remote = try RemoteInspector(processID: getpid())
                    #expect(try remote.report().processID == getpid())
                    let ending = Child {
                        if isStop { inspector.entries[0].stop() }
                        inspector.removeAll()
                        return 0
                    }.wait()
                    #expect(ending == .exited(0))
                    // A connection of before is answered, and a new one.
                    #expect(try remote.report().processID == getpid())
                    #expect(try RemoteInspector(processID: getpid()).report().processID == getpid())
                    inspector.entries[0].stop()
                } catch { Issue.record(error) }
            }.join()
        }
    }
}
