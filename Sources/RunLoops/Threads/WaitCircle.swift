/// Threads that would wait for each other for ever, and the call in which each thread waits.
///
/// ``PerformError/circle`` and ``RequestError/circle`` contain the circle. The description of the circle is meant for logs.
///
/// > Thread safety: a value.
public struct WaitCircle: Hashable, Sendable {
    /// The waits, in the order of the circle.
    ///
    /// Each element is for one thread. This thread waits for the thread of the next element, and the last thread waits for the
    /// first. The wait that was refused is the first element.
    package let waits: [Wait]

    /// One element of a circle: a thread, and the call in which the thread waits.
    package struct Wait: Hashable, Sendable {
        /// The loop of the thread that waits; nil if the thread has no loop.
        package let loop: RunLoop?

        /// The member that the thread has called, as `Type.member`.
        package let operation: String

        /// The file of the call; for `Port.send`, the file in which the port was made.
        package let fileID: String

        /// The line of the call; for `Port.send`, the line on which the port was made.
        package let line: Int

        /// The thread's name, for the description of the circle.
        let thread: String
    }

    init(_ waits: [ThreadWait]) {
        self.waits = waits.map { wait in
            Wait(
                loop: wait.loop, operation: "\(wait.operation)", fileID: "\(wait.origin.fileID)",
                line: Int(wait.origin.line), thread: WaitCircle.name(of: wait))
        }
    }

    private static func name(of wait: ThreadWait) -> String {
        if let loop = wait.loop { return loop.description }
        return wait.heldTargets.contains(.mainLoop) ? "the main thread" : "a thread without run loop"
    }
}

extension WaitCircle: CustomStringConvertible {
    /// The threads, the calls in which they wait, and the places of the calls.
    public var description: String {
        guard let first = waits.first else { return "no thread waits" }
        var text = first.thread
        for (position, wait) in waits.enumerated() {
            let next = position + 1 < waits.count ? waits[position + 1] : first
            text += position == 0 ? " waits in " : ", which waits in "
            text += "\(wait.operation) (\(wait.fileID):\(wait.line)) for \(next.thread)"
        }
        return text
    }
}
