internal import Foundation
internal import TestSupport

/// The resources that the process uses at one moment.
struct Resources {
    /// The seconds since the soak began.
    let time: Double
    /// The number of bytes that are allocated with malloc.
    let allocated: Int
    /// The number of bytes of resident memory.
    let resident: Int
    let descriptors: Int
    let threads: Int

    static func now(_ time: Double) -> Resources {
        Resources(
            time: time, allocated: Allocations.bytesInUse, resident: residentPages * 4_096,
            descriptors: DescriptorLimit.open, threads: entries(of: "/proc/self/task"))
    }

    fileprivate static func entries(of path: String) -> Int {
        (try? FileManager.default.contentsOfDirectory(atPath: path))?.count ?? 0
    }

    private static var residentPages: Int {
        guard let data = FileManager.default.contents(atPath: "/proc/self/statm") else { return 0 }
        let words = String(decoding: data, as: UTF8.self).split(separator: " ")
        return words.count > 1 ? Int(words[1]) ?? 0 : 0
    }
}

/// The limit on the descriptors of this process.
enum DescriptorLimit {
    /// Raises the limit as far as an unprivileged process can.
    ///
    /// - Returns: The new limit.
    static func raise() -> Int {
        let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        var limit = rlimit()
        // Safe, all three: the kernel reads and fills a local variable.
        unsafe getrlimit(resource, &limit)
        limit.rlim_cur = limit.rlim_max
        unsafe setrlimit(resource, &limit)
        unsafe getrlimit(resource, &limit)
        return Int(clamping: limit.rlim_cur)
    }

    /// The number of open descriptors, including the one that the count itself uses.
    static var open: Int { Resources.entries(of: "/proc/self/fd") }
}

/// The growth of the process's resources from the middle of a soak to its end.
struct Growth {
    let allocated: Int
    let descriptors: Int
    /// The number of bytes that were allocated in the middle, with which the end is compared.
    private let before: Int

    /// Compares the median of the second quarter of the samples with that of the last one.
    ///
    /// The first quarter is the warm-up.
    init?(_ samples: [Resources]) {
        if samples.count < 8 { return nil }
        let quarter = samples.count / 4
        func median(_ range: ArraySlice<Resources>, _ figure: (Resources) -> Int) -> Int {
            range.map(figure).sorted()[range.count / 2]
        }
        let (middle, last) = (samples[quarter..<2 * quarter], samples.suffix(quarter))
        before = median(middle, \.allocated)
        allocated = median(last, \.allocated) - before
        descriptors = median(last, \.descriptors) - median(middle, \.descriptors)
    }

    /// Growth that exceeds the variation due to messages in flight.
    var faults: [String] {
        var faults: [String] = []
        if allocated > before / 4 + 4 << 20 { faults.append("memory grows by \(allocated) bytes") }
        if descriptors > 64 { faults.append("\(descriptors) more descriptors are open") }
        return faults
    }
}
