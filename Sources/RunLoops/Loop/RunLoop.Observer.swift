extension RunLoop {
    /// Calls a handler at chosen moments of a loop's runs.
    ///
    /// Observers of one moment are called in ascending ``order``, and observers of equal order in the order in which they were
    /// added. While an observer's handler runs the loop, that run does not call the observer again. If a handler adds an observer
    /// to the loop, the new observer is called from the next moment on. If a handler removes an observer, the removed observer is
    /// not called afterwards.
    ///
    /// ```swift
    /// let observer = RunLoop.Observer(activities: .beforeWaiting) { _, _ in flushLogs() }
    /// loop.add(observer, forMode: .common)
    /// ```
    ///
    /// > Thread safety: ``invalidate()`` and ``isValid`` from any thread (<doc:Ends>). All other members from the loop's own thread
    /// > only.
    public final class Observer {
        /// The moments at which the observer is called.
        public let activities: Activity

        /// True if the observer stays valid after its first call.
        public let repeats: Bool

        /// The observer's position among the observers of the same moment; an observer of lower order is called first.
        public let order: Int

        /// True until the observer becomes invalid.
        ///
        /// > Thread safety: any thread.
        public var isValid: Bool { !end.hasEnded }

        var membership = Membership()
        package let end = InputEnd()
        /// The sequence number that the observer got when it was last added to a loop.
        fileprivate(set) var addition: UInt64 = 0
        /// The list of all observers of this observer's loop; nil while this observer is in no loop.
        fileprivate var list: LoopObservers?
        fileprivate var handler: ((Observer, Activity) -> Void)?
        private var isNotifying = false
        let origin: SourceLocation

        /// Makes an observer that is in no loop yet.
        ///
        /// - Parameters:
        ///   - activities: The moments at which the observer is called.
        ///   - repeats: False if the observer becomes invalid after its first call.
        ///   - order: The observer's position among the observers of the same moment; an observer of lower order is called first.
        ///   - fileID: The file of the call, for diagnostics.
        ///   - line: The line of the call, for diagnostics.
        ///   - handler: Called on the loop's thread with the observer and the moment. The observer holds the handler until the
        ///     observer is invalid.
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

        /// Removes the observer from its loop for good, and releases its handler.
        ///
        /// A second call does nothing.
        ///
        /// > Thread safety: any thread: <doc:Ends>.
        public func invalidate() { endAnywhere() }

        func join(_ observers: LoopObservers, _ mode: Mode) {
            guard isValid else { return }
            if let other = membership.loop, other !== observers.members {
                misuse("RunLoop.add(observer): the observer is in another loop; remove it there first")
            }
            guard end.join(observers.members.handle) else { return }
            let isNew = membership.loop == nil
            observers.members.add(self, to: mode)
            if isNew && membership.loop != nil {
                list = observers
                addition = observers.append(self)
            }
        }

        func notify(_ activity: Activity, in loop: LoopMembers) {
            guard !isNotifying, loop.admits(self), let handler else { return }
            isNotifying = true
            loop.handlers.call(origin, as: .observer) { handler(self, activity) }
            isNotifying = false
            if !repeats { invalidate() }
        }
    }
}

@available(*, unavailable)
extension RunLoop.Observer: Sendable {}

extension RunLoop.Observer: Removable {
    package func giveBack(inForkedChild isChild: Bool) {
        let released = handler
        handler = nil
        if !isChild { membership.loop?.remove(self) }
        // The handler is released last, because destroying an object that it holds can call back into this observer.
        withExtendedLifetime(released) {}
    }
}

extension RunLoop.Observer: LoopInput {
    var keepsModeAlive: Bool { false }

    func didLeave(_ loop: LoopMembers) {
        list?.remove(self, addition)
        list = nil
        if loop.hasEnded { endHere() }
    }
}

extension RunLoop.Observer: CustomStringConvertible {
    /// The moments, and the place where the observer was made.
    public var description: String {
        "\(isValid ? "" : "invalid ")observer of \(activities) made at \(origin)"
    }
}
