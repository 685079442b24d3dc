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
        /// The observers of the loop that the observer is in; nil while it is in none.
        fileprivate var list: LoopObservers?
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
            let loop = membership.loop?.requireCurrent("Observer.invalidate")
            isValid = false
            let released = handler
            handler = nil
            loop?.remove(self)
            // What the handler holds may be the user's, and may come back here while it is destroyed.
            withExtendedLifetime(released) {}
        }

        func join(_ observers: LoopObservers, _ mode: Mode) {
            guard isValid else { return }
            if let other = membership.loop, other !== observers.members {
                misuse("RunLoop.add(observer): the observer is in another loop; remove it there first")
            }
            let isNew = membership.loop == nil
            observers.members.add(self, to: mode)
            if isNew && membership.loop != nil {
                list = observers
                addition = observers.append(self)
            }
        }

        func notify(_ activity: Activity, by handlers: HandlerCaller) {
            guard isValid, !isNotifying, let handler else { return }
            isNotifying = true
            handlers.call(origin, as: .observer) { handler(self, activity) }
            isNotifying = false
            if !repeats { invalidate() }
        }
    }
}

@available(*, unavailable)
extension RunLoop.Observer: Sendable {}

extension RunLoop.Observer: LoopInput {
    var keepsModeAlive: Bool { false }

    func didLeave(_ loop: LoopMembers) {
        list?.remove(self, addition)
        list = nil
        if loop.hasEnded { invalidate() }
    }
}

extension RunLoop.Observer: CustomStringConvertible {
    /// The moments, and the place where the observer was made.
    public var description: String {
        "\(isValid ? "" : "invalid ")observer of \(activities) made at \(origin)"
    }
}
