internal import MessagePorts
internal import RunLoops

/// A hub on a thread of its own.
///
/// > Thread safety: any thread.
final class HubThread: Sendable {
    private let thread: RunLoopThread
    private let server = LoopConfined<HubServer>()
    /// The one-shot that is decided when the hub has ended.
    private let hasEnded = OneShot<Void>()

    /// Takes the name, and begins to serve the hub.
    init(_ name: PortName, in names: PortNames, _ limits: Hub.Limits) throws(DistributedNotificationError) {
        do throws(SystemError) { thread = try RunLoopThread(servingProcess: "hub") } catch {
            throw .system(error)
        }
        let made = OneShot<MessagePortError?>()
        thread.runLoop.performInEveryMode { [thread, server, hasEnded] in
            do throws(MessagePortError) {
                server.value = try HubServer(name, in: names, limits, on: thread.runLoop) {
                    _ = hasEnded.decide(())
                    // The server is released in a later block, because the server is still running the call in which it ends.
                    thread.runLoop.performInEveryMode {
                        server.value = nil
                        thread.stop()
                    }
                }
                made.decide(nil)
            } catch { made.decide(error) }
        }
        made.wait()
        if let error = made.take() {
            thread.stop()
            throw .port(error)
        }
    }

    var loop: RunLoop { thread.runLoop }

    /// Ends the hub.
    func end() {
        thread.runLoop.performInEveryMode { [server] in server.value?.end() }
    }

    /// True once the hub has ended.
    var isEnded: Bool { hasEnded.isDecided }

    /// Blocks the thread until the hub has ended.
    func wait() { hasEnded.wait() }
}
