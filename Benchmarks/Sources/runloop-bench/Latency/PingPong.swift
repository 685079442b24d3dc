/// Two threads that wake each other by one means.
protocol PingPong: AnyObject {
    /// The threads of the side that measures.
    var nearThreads: [ThreadNumber] { get }
    /// The threads of the side that answers.
    var farThreads: [ThreadNumber] { get }

    /// Puts both sides' threads where the placement wants them.
    func place(_ placement: Placement, on machine: Machine)

    /// Starts the rally that was prepared. Its end is the rally's to tell.
    func start()

    /// How often, so far, a side that spun had work before it would have slept; `nil` for those that never spin.
    var spinHits: Int? { get }

    /// What a reader must know about the rallies so far.
    var remark: String? { get }
}

extension PingPong {
    func place(_ placement: Placement, on machine: Machine) {
        placement.pin(near: nearThreads, far: farThreads, on: machine)
    }

    var spinHits: Int? { nil }

    var remark: String? { nil }
}

/// The means of waking that are compared.
enum PingPongSubject: String, CaseIterable {
    case raw = "raw eventfd + epoll (C)"
    case cacheLine = "cache line, both spin"
    case port = "RunLoops, park, port"
    case perform = "RunLoops, park, perform"
    case spinning = "RunLoops, spin, port"
    case adaptive = "RunLoops, adaptive, port"
    case foundation = "Foundation perform + wake"
    case dispatch = "Dispatch async (†)"
    case nio = "SwiftNIO execute"

    /// Whether it can be measured there: two threads that spin on one processor wait for the scheduler.
    func isPossible(in placement: Placement) -> Bool { self != .cacheLine || placement == .twoProcessors }

    /// Ours, theirs or neither.
    var role: Chart.Role {
        switch self {
        case .raw, .cacheLine: .yardstick
        case .port, .perform, .spinning, .adaptive: .ours
        case .foundation, .dispatch, .nio: .peer
        }
    }
}
