internal import RunLoops

extension ThroughputSubject {
    /// Starts this subject's consumer.
    func make(sink: Sink) throws -> any MessageChannel {
        switch self {
        case .list: ListChannel(sink: sink)
        case .array: ArrayChannel(sink: sink)
        case .port: try PortChannel(Port(queueLimit: .unlimited), sink: sink)
        case .portParked: try PortChannel(Port(queueLimit: .unlimited), policy: .park, sink: sink)
        case .portBounded: try PortChannel(Port(), sink: sink)
        case .portBatch: try PortChannel(Port(queueLimit: .unlimited), isBatched: true, sink: sink)
        case .perform: try PerformChannel(sink: sink)
        case .foundation: FoundationChannel(sink: sink)
        case .dispatch: DispatchChannel(sink: sink)
        case .nio: NIOChannel(sink: sink)
        }
    }
}
