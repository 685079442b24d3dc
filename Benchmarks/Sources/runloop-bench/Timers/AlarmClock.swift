internal import RunLoops

/// Somebody's timers, on a thread that does nothing else.
protocol AlarmClock: AnyObject {
    /// The threads, for pinning.
    var threads: [ThreadNumber] { get }

    /// Starts a series, whose end is the series' to tell.
    func start(_ series: AlarmSeries)
}

/// Whose timers are compared.
enum AlarmSubject: String, CaseIterable {
    case raw = "raw timerfd + epoll (C)"
    case parked = "RunLoops, park"
    case adaptive = "RunLoops, adaptive"
    case foundation = "Foundation Timer"
    case dispatch = "Dispatch timer source (†)"
    case nio = "SwiftNIO scheduleTask"

    /// Ours, theirs or neither.
    var role: Chart.Role {
        switch self {
        case .raw: .yardstick
        case .parked, .adaptive: .ours
        case .foundation, .dispatch, .nio: .peer
        }
    }

    func make() throws -> any AlarmClock {
        switch self {
        case .raw: RawAlarmClock()
        case .parked: try LoopAlarmClock(.park)
        case .adaptive: try LoopAlarmClock(.adaptive)
        case .foundation: FoundationAlarmClock()
        case .dispatch: DispatchAlarmClock()
        case .nio: NIOAlarmClock()
        }
    }
}
