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
