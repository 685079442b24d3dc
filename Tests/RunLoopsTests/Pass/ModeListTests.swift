import TestSupport
import Testing

@testable import RunLoops

/// Small and large sets of modes.
@Suite struct ModeListTests {
    private func mode(_ number: Int) -> RunLoop.Mode { RunLoop.Mode("mode \(number)") }

    @Test(arguments: [2, 8, 9, 60], 0..<5 as Range<UInt64>)
    func `a list holds what was added and not removed, each mode at one place`(size: Int, seed: UInt64) {
        var random = SplitMix64(seed: seed)
        var list = ModeList()
        var expected: Set<RunLoop.Mode> = []
        for _ in 0..<600 {
            let mode = mode(Int.random(in: 0..<size, using: &random))
            if let place = list.place(of: mode) {
                #expect(expected.remove(mode) != nil)
                list.remove(at: place)
            } else {
                #expect(expected.insert(mode).inserted)
                list.append(mode)
            }
            #expect(Set(list.modes) == expected && list.count == expected.count)
            for (place, mode) in list.modes.enumerated() { #expect(list.place(of: mode) == place) }
            for number in 0..<size where !expected.contains(self.mode(number)) {
                #expect(!list.contains(self.mode(number)))
            }
        }
    }

    @Test func `a mode that is removed gives its place to the last one`() {
        var list = ModeList(mode(0))
        for number in 1..<20 { list.append(mode(number)) }
        list.remove(at: 3)
        #expect(list.modes[3] == mode(19))
        #expect(list.count == 19)
        list.remove(at: 18)
        #expect(!list.contains(mode(18)))
    }
}
