internal import CThreadControl
internal import Foundation

/// What the program ran on.
struct Machine: Codable {
    /// The processors that are used, in order: the first is the measuring side's, the second the other's.
    let processors: [Int32]
    /// How many processors are on line.
    let processorCount: Int
    /// What the first processor calls itself.
    let model: String
    /// The kernel's release.
    let kernel: String
    /// How many threads were running or waiting to, lately, before this program began.
    let load: String
    /// Whether the program was optimised.
    let isOptimised: Bool

    /// Looks at the machine.
    ///
    /// - Parameter chosen: The processors to use, or none for all that the process may.
    init(using chosen: [Int32]) {
        processors = chosen.isEmpty ? Self.usableProcessors : chosen
        processorCount = ProcessInfo.processInfo.processorCount
        model = Self.line(of: "/proc/cpuinfo", startingWith: "model name") ?? "unknown"
        kernel = Self.firstLine(of: "/proc/sys/kernel/osrelease") ?? "unknown"
        load = Self.firstLine(of: "/proc/loadavg")?.split(separator: " ").first.map(String.init) ?? "unknown"
        var optimised = true
        assert(
            {
                optimised = false; return true
            }())
        isOptimised = optimised
    }

    /// The processors that this process may use, in order.
    static var usableProcessors: [Int32] {
        var usable = [Int32](repeating: 0, count: 1024)
        let count = Int(bench_usable_processors(&usable, Int32(usable.count)))
        return Array(usable[..<count])
    }

    /// The facts, one a line.
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

    /// What follows the colon, or the whole line where there is none.
    private static func line(of path: String, startingWith start: String) -> String? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        let text = String(decoding: data, as: UTF8.self)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(start) }) else { return nil }
        let value = line.split(separator: ":", maxSplits: 1).last ?? line
        return value.trimmingCharacters(in: .whitespaces)
    }
}

/// Which processors the two sides of a measurement may use.
enum Placement: String, CaseIterable, Codable {
    /// Each side on a processor of its own: waking crosses processors.
    case twoProcessors = "two CPUs"
    /// Both sides on one: waking is a context switch.
    case oneProcessor = "one CPU"
    /// Wherever the scheduler puts them. With few processors it changes its mind: read the distribution.
    case unpinned = "unpinned"

    /// The placements that make sense with as many processors as the machine lets us use.
    static func possible(on machine: Machine) -> [Placement] {
        machine.processors.count > 1 ? allCases : [.oneProcessor]
    }

    /// Puts both sides' threads where this placement wants them.
    func pin(near: [ThreadNumber], far: [ThreadNumber], on machine: Machine) {
        for thread in near { thread.pin(to: nearProcessors(on: machine)) }
        for thread in far { thread.pin(to: farProcessors(on: machine)) }
    }

    /// Where the side that measures runs.
    func nearProcessors(on machine: Machine) -> [Int32] {
        switch self {
        case .twoProcessors, .oneProcessor: [machine.processors[0]]
        case .unpinned: machine.processors
        }
    }

    /// Where the side that is woken runs.
    func farProcessors(on machine: Machine) -> [Int32] {
        switch self {
        case .twoProcessors: [machine.processors[1]]
        case .oneProcessor: [machine.processors[0]]
        case .unpinned: machine.processors
        }
    }
}
