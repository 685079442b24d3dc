/// The ways to have a thread's loop learn of something that are compared.
enum RedirectSubject: String, CaseIterable {
    case list = "list (C, malloc per message)"
    case redirected = "RunLoops redirected notification"
    case perform = "RunLoops perform"
    case foundation = "Foundation perform + wake"
    case foundationQueue = "Foundation notification to a queue (†)"

    /// Ours, theirs or neither.
    var role: Chart.Role {
        switch self {
        case .list: .yardstick
        case .redirected, .perform: .ours
        case .foundation, .foundationQueue: .peer
        }
    }

    /// Starts this subject's consumer.
    func make(sink: Sink) throws -> any MessageChannel {
        switch self {
        case .list: ListChannel(sink: sink)
        case .redirected: try RedirectedChannel(sink: sink)
        case .perform: try PerformChannel(sink: sink)
        case .foundation: FoundationChannel(sink: sink)
        case .foundationQueue: FoundationQueueChannel(sink: sink)
        }
    }
}
