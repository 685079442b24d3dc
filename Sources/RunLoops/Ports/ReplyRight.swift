public import Synchronization

/// A right to answer one request.
///
/// The requester puts the right into the message, and waits: `request` of ``Port`` and ``SendRight``. The code that has the right
/// answers once, immediately or later, on any thread. All copies are one right. If the last copy is destroyed unused, the requester
/// gets an error, so each request ends exactly once.
///
/// ```swift
/// struct Question: Sendable {
///     let text: String
///     let asker: ReplyRight<String>
/// }
/// loop.add(questions, forMode: .common) { $0.asker.reply("\($0.text)? 42") }
/// ```
///
/// > Thread safety: any thread.
public final class ReplyRight<Reply: Sendable>: Sendable {
    @usableFromInline let outcome: OneShot<Result<Reply, RequestError>>
    @usableFromInline let port: PortCore
    @usableFromInline let origin: SourceLocation
    @usableFromInline
    let isUsed = Atomic(false)

    @inlinable
    init(_ reply: OneShot<Result<Reply, RequestError>>, _ port: PortCore, _ origin: SourceLocation) {
        outcome = reply
        self.port = port
        self.origin = origin
    }

    deinit {
        // In a forked child, the requester is a thread or task of the parent, so the child ends no wait.
        if isUsed.load(ordering: .relaxed) || Fork.isChild { return }
        failUnused()
    }

    /// Ends the wait of the requester, because no copy of the right is left.
    ///
    /// This is apart from the deinitializer, which is not compiled for the type of the reply: only a right that was not used looks
    /// the type up.
    @inline(never)
    private func failUnused() {
        outcome.decide(.failure(RequestError(port.isClosed ? .invalid : .noReply)))
    }

    /// True if the requester still waits.
    ///
    /// If this is false, there is no need to compute the answer.
    ///
    /// > Thread safety: any thread; the requester can stop waiting at any moment.
    public var isAwaited: Bool { !outcome.isDecided }

    /// Answers the request, and so ends the requester's wait.
    ///
    /// The call never waits, and needs no room in any queue. An answer that arrives after the requester's deadline, or after its
    /// task was cancelled, is destroyed and counted: ``Port/lateReplyCount``. A second answer ends the program, with a message that
    /// names the request.
    ///
    /// - Parameter reply: The answer.
    /// - Returns: True if the requester gets the answer; false if the requester no longer waits.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @inlinable
    @discardableResult
    public func reply(_ reply: consuming Reply) -> Bool {
        use()
        let isInTime = outcome.decide(.success(reply))
        if !isInTime { countLateReply() }
        return isInTime
    }

    /// Marks the right as used.
    @usableFromInline
    func use() {
        Fork.check("ReplyRight.reply")
        if isUsed.exchange(true, ordering: .relaxed) {
            misuse(
                "ReplyRight.reply: the request made at \(origin) was answered before; answer each one once")
        }
    }

    @usableFromInline
    func countLateReply() { port.countLateReply() }
}

extension ReplyRight where Reply == Void {
    /// Answers a request whose answer carries no value.
    ///
    /// - Returns: True if the requester gets the answer; false if the requester no longer waits.
    ///
    /// > Thread safety: any thread. Not in a signal handler.
    @discardableResult
    public func reply() -> Bool { reply(()) }
}

extension ReplyRight: CustomStringConvertible {
    /// The place where the request was made.
    public var description: String { "right to reply to the request made at \(origin)" }
}
