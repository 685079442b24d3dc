extension RunLoop {
    /// Watches a loop's runs: called at the moments it asked for.
    ///
    /// Observers of one moment are called in ascending ``order``, those of equal order in the order in which they
    /// were added. An observer whose handler is running is not called by a run inside it. An observer that a handler adds to
    /// the loop is called from the next moment on; one that it removes is not called any more.
    ///
    /// ```swift
    /// let observer = RunLoop.Observer(activities: .beforeWaiting) { _, _ in flushLogs() }
    /// loop.add(observer, forMode: .common)
    /// ```
    ///
    /// > Thread safety: the loop's own thread only.
    public final class Observer {
        /// The moments at which the observer is called.
        public let activities: Activity

        /// Whether the observer is called more than once.
        public let repeats: Bool

        /// Its place among the observers of a moment.
        public let order: Int

        /// False once it is invalid, for good.
        public private(set) var isValid = true

        var membership = Membership()
        /// The number of the last addition to a loop.
        fileprivate(set) var addition: UInt64 = 0
        private var handler: ((Observer, Activity) -> Void)?
        private var isNotifying = false
        private let origin: SourceLocation

        /// Makes an observer, which is in no loop yet.
        ///
        /// - Parameters:
        ///   - activities: The moments at which it is called.
        ///   - repeats: False for one that becomes invalid after its first call.
        ///   - order: Its place among the observers of a moment; lower ones come first.
        ///   - fileID: Where it was made, for diagnostics.
        ///   - line: Where it was made, for diagnostics.
        ///   - handler: Called on the loop's thread with the observer and the moment.
        public init(
            activities: Activity, repeats: Bool = true, order: Int = 0, fileID: StaticString = #fileID,
            line: Int = #line,
            handler: @escaping (Observer, Activity) -> Void
        ) {
            self.activities = activities
            self.repeats = repeats
            self.order = order
            self.origin = SourceLocation(fileID, line)
            self.handler = handler
        }

        /// Takes the observer out of its loop for good, and lets go of its handler.
        ///
        /// Again is harmless.
        public func invalidate() {
            let core = membership.loop?.requireCurrent("Observer.invalidate")
            isValid = false
            let released = handler
            handler = nil
            core?.removeFromLoop(self)
            // What the handler holds may be the user's, and may come back here while it is destroyed.
            withExtendedLifetime(released) {}
        }

        func join(_ core: LoopCore, _ mode: Mode) {
            guard isValid else { return }
            if let other = membership.loop, other !== core {
                misuse("RunLoop.add(observer): the observer is in another loop; remove it there first")
            }
            let isNew = membership.loop == nil
            core.add(self, to: mode)
            if isNew && membership.loop != nil { addition = core.observers.add(self) }
        }

        func notify(_ activity: Activity, in core: LoopCore) {
            guard isValid, !isNotifying, let handler else { return }
            isNotifying = true
            core.callHandler(origin, as: .observer) { handler(self, activity) }
            isNotifying = false
            if !repeats { invalidate() }
        }
    }
}

@available(*, unavailable)
extension RunLoop.Observer: Sendable {}

extension RunLoop.Observer: LoopInput {
    var keepsModeAlive: Bool { false }

    func didLeave(_ loop: LoopCore) {
        loop.observers.remove(self, addition)
        if loop.hasEnded { invalidate() }
    }
}

extension LoopCore {
    /// This, if the caller is on the loop's thread.
    func requireCurrent(_ member: StaticString) -> LoopCore {
        Fork.check(member)
        if RunLoop.existing?.inbox !== inbox {
            misuse(
                "\(member): called outside the thread of the loop it is in; perform a block on that loop and call it there"
            )
        }
        return self
    }
}

extension RunLoop.Observer: CustomStringConvertible {
    /// The moments, and the place where the observer was made.
    public var description: String {
        "\(isValid ? "" : "invalid ")observer of \(activities) made at \(origin)"
    }
}
