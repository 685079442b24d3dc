import Foundation
import RunLoops
import TestSupport
import Testing

import class RunLoops.RunLoop
import class RunLoops.Timer

/// The code of the article "Coming from Foundation": both modules in one file.
@Suite struct FoundationSnippets {
    @Test func `with scoped imports the plain names are ours`() throws {
        let print = Printed()
        try onLoopThread { current in
            let loop = RunLoop.current
            let foundations = Foundation.RunLoop.current
            loop.add(Timer(timeInterval: .zero, repeats: false) { _ in print(Date.now) }, forMode: .default)
            loop.run(until: .now)
            #expect(loop == current)
            #expect(foundations.currentMode == nil)
        }
        #expect(print.lines.count == 1)
    }

    @Test func `with the module in front both names are told apart`() throws {
        try onLoopThread { current in
            let ours = RunLoops::RunLoop.current
            let theirs = Foundation::RunLoop.current
            #expect(ours == current)
            #expect(theirs.currentMode == nil)
        }
    }
}
