import Foundation
import RunLoops
import TestSupport

/// Both main loops in one program: each serves the main queue, and every block is served by one of them.
enum BesideFoundation {
    static func run() {
        let ours = RunLoops::RunLoop.main
        let theirs = Foundation::RunLoop.main
        for round in 1...3 {
            DispatchQueue.main.async { tell("theirs", round) }
            theirs.run(until: Date.now + 0.02)
            DispatchQueue.main.async {
                tell("ours", round)
                ours.stop()
            }
            tell(ours.run(in: .default))
        }
        // Each loop runs inside a block that the other loop serves.
        DispatchQueue.main.async {
            DispatchQueue.main.async {
                tell("after the block")
                ours.stop()
            }
            Foundation::RunLoop.main.run(until: Date.now + 0.02)
            tell("block ends")
        }
        tell(ours.run(in: .default))
        let served = Shared()
        DispatchQueue.main.async {
            DispatchQueue.main.async {
                tell("after the block")
                served.increment()
            }
            tell(ours.run(in: .default, until: .now + .milliseconds(20)))
            tell("block ends")
        }
        while served.count == 0 { theirs.run(until: Date.now + 0.02) }
    }
}
