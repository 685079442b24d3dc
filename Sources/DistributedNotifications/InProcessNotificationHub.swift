/// A hub inside this process, for tests of programs that post and observe.
///
/// Its centers behave like those of a hub between processes, with the same limits, gaps and acknowledgements. Other processes
/// cannot connect to it.
///
/// ```swift
/// let hub = InProcessNotificationHub()
/// let poster = try DistributedNotificationCenter(hub.engine)
/// let observer = try DistributedNotificationCenter(hub.engine)
/// ```
///
/// > Thread safety: any thread.
public final class InProcessNotificationHub: Sendable {
    let core: InProcessHubCore

    /// Makes a hub without centers.
    public convenience init() { self.init(Hub.Limits()) }

    init(_ limits: Hub.Limits) { core = InProcessHubCore(limits) }

    /// The engine for centers that connect to this hub.
    public var engine: DistributedNotificationEngine {
        DistributedNotificationEngine(name: "hub in this process") { [core] loop in
            InProcessEngine(core, loop)
        }
    }

    /// Replaces the hub with an empty one, as after a crash.
    ///
    /// The centers lose their connections, and connect again.
    package func crash() { core.crash() }
}
