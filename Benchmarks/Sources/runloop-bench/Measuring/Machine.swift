internal import CThreadControl
internal import Foundation

/// The machine that the program ran on.
struct Machine: Codable {
    /// The processors that are used, in order: the measuring side runs on the first, the other side on the second.
    let processors: [Int32]
    /// The number of processors that are online.
    let processorCount: Int
    /// The model name of the first processor.
    let model: String
    /// The kernel's release.
    let kernel: String
    /// The distribution and its version.
    let system: String
    /// The day of the run, in UTC.
    let date: String
    /// The load average of the last minute, before this program began.
    let load: String
    /// True if the program was compiled with optimisation.
    let isOptimised: Bool

    /// Reads the facts about the machine.
    ///
    /// - Parameter chosen: The processors to use, or an empty array for all processors that the process is allowed to use.
    init(using chosen: [Int32]) {
        processors = chosen.isEmpty ? Self.usableProcessors : chosen
        processorCount = ProcessInfo.processInfo.processorCount
        model = Self.line(of: "/proc/cpuinfo", startingWith: "model name") ?? "unknown"
        kernel = Self.firstLine(of: "/proc/sys/kernel/osrelease") ?? "unknown"
        let name = Self.line(of: "/etc/os-release", startingWith: "NAME=")?.dropFirst(5)
        let version = Self.line(of: "/etc/os-release", startingWith: "VERSION_ID=")?.dropFirst(11)
        let words = [name?.split(separator: " ").first, version].compactMap { $0 }
        system = words.isEmpty ? "Linux" : words.joined(separator: " ").replacing("\"", with: "")
        date = Date.now.formatted(.iso8601.year().month().day())
        load = Self.firstLine(of: "/proc/loadavg")?.split(separator: " ").first.map(String.init) ?? "unknown"
        var optimised = true
        assert(
            {
                optimised = false; return true
            }())
        isOptimised = optimised
    }

    /// The processors that this process is allowed to use, in ascending order.
    static var usableProcessors: [Int32] {
        var usable = [Int32](repeating: 0, count: 1024)
        let count = Int(bench_usable_processors(&usable, Int32(usable.count)))
        return Array(usable[..<count])
    }

    /// The facts in a few words.
    var summary: String {
        let count = processors.count == 1 ? "1 CPU" : "\(processors.count) CPUs"
        return "\(count), \(system), kernel \(kernel)"
    }

    /// The note of a row that cannot be measured on one processor, or `nil` if there are several processors.
    var twoProcessorsNote: String? { processors.count > 1 ? nil : "needs two CPUs" }

    /// The facts, one on each line.
    var description: [String] {
        let list = processors.map(String.init).joined(separator: ", ")
        return [
            "kernel     Linux \(kernel)",
            "processor  \(model), \(processorCount) on line, may use: \(list)",
            "load       \(load) over the last minute, before this program began",
            "build      \(isOptimised ? "optimised" : "NOT OPTIMISED: no figure below means anything")",
        ]
    }

    private static func firstLine(of path: String) -> String? {
        line(of: path, startingWith: "")
    }

    /// The part after the colon of the first line that starts with `start`, or the whole line if it has no colon.
    private static func line(of path: String, startingWith start: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(start) }) else { return nil }
        let value = line.split(separator: ":", maxSplits: 1).last ?? line
        return value.trimmingCharacters(in: .whitespaces)
    }
}

/// The processors for the two sides of a measurement.
enum Placement: String, CaseIterable, Codable {
    /// Each side has its own processor: a wake-up crosses processors.
    case twoProcessors = "two CPUs"
    /// Both sides share a processor: a wake-up is a context switch.
    case oneProcessor = "one CPU"
    /// The scheduler places both sides. With few processors, the scheduler moves the threads often: read the distribution.
    case unpinned = "unpinned"

    /// The placements that are possible with the processors in use.
    static func possible(on machine: Machine) -> [Placement] {
        machine.processors.count > 1 ? allCases : [.oneProcessor]
    }

    /// Pins the threads of both sides.
    func pin(near: [ThreadNumber], far: [ThreadNumber], on machine: Machine) {
        for thread in near { thread.pin(to: nearProcessors(on: machine)) }
        for thread in far { thread.pin(to: farProcessors(on: machine)) }
    }

    /// The processors of the side that measures.
    func nearProcessors(on machine: Machine) -> [Int32] {
        switch self {
        case .twoProcessors, .oneProcessor: [machine.processors[0]]
        case .unpinned: machine.processors
        }
    }

    /// The processors of the side that is woken.
    func farProcessors(on machine: Machine) -> [Int32] {
        switch self {
        case .twoProcessors: [machine.processors[1]]
        case .oneProcessor: [machine.processors[0]]
        case .unpinned: machine.processors
        }
    }
}
