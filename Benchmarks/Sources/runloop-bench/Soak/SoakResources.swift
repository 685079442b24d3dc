internal import CAllocationCounter
internal import Foundation

/// What the process takes at one moment.
struct SoakResources {
    /// Seconds since the soak began.
    let time: Double
    /// Bytes that malloc has given and not got back.
    let allocated: Int
    /// Bytes of memory that the kernel has given.
    let resident: Int
    let descriptors: Int
    let threads: Int

    static func now(_ time: Double) -> SoakResources {
        SoakResources(
            time: time, allocated: Int(bench_allocated_bytes()), resident: residentPages * 4_096,
            descriptors: DescriptorRoom.open, threads: entries("/proc/self/task"))
    }

    private static func entries(_ path: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: path))?.count ?? 0
    }

    private static var residentPages: Int {
        guard let data = FileManager.default.contents(atPath: "/proc/self/statm") else { return 0 }
        let words = String(decoding: data, as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }
}

/// How much more a process takes at the end of a soak than in its middle.
struct SoakGrowth {
    let allocated: Int
    let descriptors: Int
    /// What is allocated in the middle, to see the growth beside.
    private let before: Int

    /// Compares the last quarter of the samples with the second one, by their medians: the first one warms up.
    init?(_ samples: [SoakResources]) {
        if samples.count < 8 { return nil }
        let quarter = samples.count / 4
        func median(_ range: ArraySlice<SoakResources>, _ figure: (SoakResources) -> Int) -> Int {
            range.map(figure).sorted()[range.count / 2]
        }
        let (middle, last) = (samples[quarter..<2 * quarter], samples.suffix(quarter))
        before = median(middle, \.allocated)
        allocated = median(last, \.allocated) - before
        descriptors = median(last, \.descriptors) - median(middle, \.descriptors)
    }

    /// What must not be: more than comes and goes with what is on its way.
    var faults: [String] {
        var faults: [String] = []
        if allocated > before / 4 + 4 << 20 { faults.append("memory grows by \(allocated) bytes") }
        if descriptors > 64 { faults.append("\(descriptors) more descriptors are open") }
        return faults
    }
}
