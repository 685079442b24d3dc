public import MessagePorts
internal import RunLoops

/// A hub that a process serves for others, without posting or observing itself.
///
/// In production, serve the hub in a small process of its own. Let a supervisor restart that process, and never stop or debug it.
///
/// ```swift
/// let hub = try DistributedNotificationHub(named: PortName("org.example.cache"))
/// hub.waitUntilInvalid()
/// ```
///
/// The centers of other processes connect to the hub by its name. Make them with
/// ``DistributedNotificationEngine/hub(named:in:servesIfFirst:)`` and `servesIfFirst: false`, so that none of them serves the
/// next hub when this one ends.
///
/// The hub ends with ``invalidate()``, when the last reference to it is released, or when it loses its name.
///
/// > Thread safety: any thread.
public final class DistributedNotificationHub: Sendable {
    private let thread: HubThread

    /// The name of the hub.
    public let name: PortName

    /// Takes the name, and begins to serve the hub on a thread of its own.
    ///
    /// - Parameters:
    ///   - name: The name that the centers use.
    ///   - names: The place where the name is kept.
    /// - Throws: ``DistributedNotificationError/Reason/port`` if another process serves the name, or if the name cannot be taken;
    ///   ``DistributedNotificationError/Reason/system`` if the thread cannot be started.
    ///
    /// > Thread safety: any thread.
    public init(named name: PortName, in names: PortNames = .user) throws(DistributedNotificationError) {
        self.name = name
        thread = try HubThread(name, in: names, Hub.Limits())
    }

    // In a forked child, the thread and the name belong to the parent process.
    deinit { if !Fork.isChild { thread.end() } }

    /// The loop of the hub, for tests.
    var loop: RunLoop { thread.loop }

    /// False once the hub has ended.
    ///
    /// The hub ends by itself if it loses its name because the directory of the names was removed. Another hub can then take the
    /// name. If this hub did not end, each of the two hubs would have only some of the observers.
    public var isValid: Bool { !thread.isEnded }

    /// Ends the hub.
    ///
    /// Its name is free soon after that. A second call does nothing.
    ///
    /// > Thread safety: any thread.
    public func invalidate() {
        Fork.check("DistributedNotificationHub.invalidate")
        thread.end()
    }

    /// Blocks the thread until the hub has ended.
    ///
    /// > Thread safety: one thread at a time.
    @available(*, noasync, message: "this blocks the thread; ask isValid in asynchronous code")
    public func waitUntilInvalid() { thread.wait() }
}

extension DistributedNotificationEngine {
    /// The engine for the processes of one machine, one of which serves a hub for all of them.
    ///
    /// The first process that takes the name serves the hub, on a thread of its own. When that process ends, for any reason, the
    /// others race for the name, and one of them serves the next hub. Nothing has to be installed or started. While the serving
    /// process is stopped, or is being debugged, all other processes wait, so ``DistributedNotificationHub`` in a process of its
    /// own is the better choice in production.
    ///
    /// - Parameters:
    ///   - name: The name, which all processes use. A plain name is for processes of the same user.
    ///   - names: The place where the name is kept.
    ///   - servesIfFirst: True if this process takes the name and serves the hub when there is no hub.
    /// - Returns: The engine.
    public static func hub(
        named name: PortName, in names: PortNames = .user, servesIfFirst: Bool = true
    ) -> DistributedNotificationEngine {
        DistributedNotificationEngine(name: "hub \"\(name)\"") { loop in
            HubEngine(
                .init(name: name, names: names, serves: servesIfFirst, limits: Hub.Limits()), on: loop)
        }
    }
}
