internal import Glibc

/// Calls a handler when a file descriptor, such as a socket, a pipe or an eventfd, is ready.
///
/// A level-triggered source, the default, calls its handler in each pass in which the descriptor is ready, so the handler can read
/// any number of bytes. An edge-triggered source calls its handler when the kernel reports new readiness, so the handler must read
/// or write until the call fails with `EAGAIN`. In both cases the descriptor should be non-blocking.
///
/// ```swift
/// let source = DescriptorSource(socket, interest: .read) { source, readiness in
///     if !readRequest(from: source.descriptor) { source.invalidate() }
/// }
/// try RunLoop.current.add(source, forMode: .default)
/// ```
///
/// Several sources of one loop can watch the same descriptor if they have the same trigger, because the kernel keeps one trigger
/// for each descriptor.
///
/// The kernel reports the readiness in the pass in which the handler is called. If another handler of that pass has already read
/// all bytes, a read fails with `EAGAIN`. If several sources of the loop watch the descriptor, the loop polls the descriptor again
/// before it calls each handler, so bytes that one source has read are not reported to the other sources. If the handler runs the
/// loop, that inner run does not call the handler again.
///
/// A source owns its descriptor, and closes it, if you pass an ``OwnedDescriptor``. If you pass a number, you close the descriptor.
/// Then remove or invalidate the source *before* that: if the loop finds that a descriptor was closed, it ends the program, because
/// the number can then refer to another file. After an end on another thread, the descriptor can be closed at once.
///
/// Each pass calls the handler at most once, and does not limit the time that the handler takes. So a handler should read a bounded
/// number of bytes in one call.
///
/// <doc:Descriptors> shows a connection.
///
/// > Thread safety: ``invalidate()`` and ``isValid`` from any thread (<doc:Ends>). All other members from one thread; after the
/// > source is added, from the thread of its loop.
public final class DescriptorSource {
    /// The descriptor that the source watches.
    public let descriptor: CInt

    /// The events that the source watches the descriptor for.
    ///
    /// An empty interest pauses the source: its handler is not called, not even for a hang-up or an error. The source stays in its
    /// modes and keeps them alive, and what it has not read stays in the kernel, so that a peer that sends has to wait. Setting
    /// another interest resumes the source, which then reports the present readiness.
    ///
    /// You can change the interest at any time, even in the handler and while the source is in no loop. The loop passes the change
    /// to the kernel before it next polls the kernel. Of several changes, only the last change takes effect, and setting the same
    /// interest again costs nothing. Readiness outside the new interest does not reach the handler, even if the kernel has reported
    /// it already. After a change, an edge-triggered source reports all present readiness once more.
    ///
    /// If the kernel refuses the change, the handler of ``onWatchRefused(_:)`` is called. Setting the interest of an invalid source
    /// does nothing.
    public var interest: Interest {
        get { state.value.interest }
        set {
            _ = membership.loop?.requireCurrent("DescriptorSource.interest")
            if !isValid || newValue == interest { return }
            state.value.interest = newValue
            interestDidChange()
        }
    }

    /// The condition on which the handler is called.
    public let trigger: Trigger

    /// True until the source is invalidated.
    ///
    /// > Thread safety: any thread.
    public var isValid: Bool { !end.hasEnded }
    package let end = InputEnd()

    /// The handler that is called when the kernel refuses to watch the descriptor; nil if there is none.
    var watchRefused: ((DescriptorSource, SystemError) -> Void)?

    /// The descriptor, if the source closes it; nil if other code closes it, or it is closed.
    var owned: OwnedDescriptor?
    /// The closure that is called with the descriptor's readiness; nil after the source was invalidated.
    ///
    /// The closure returns true if there was an event to serve.
    var handler: ((DescriptorSource, Readiness) -> Bool)?
    let origin: SourceLocation
    /// The closure that is called after this source was invalidated.
    ///
    /// If this source represents another source in the loop, the closure invalidates that other source.
    var onInvalidation: (() -> Void)?
    /// The closure that the loop calls instead of the handler; nil if the loop calls the handler.
    ///
    /// The closure is set if the source represents another input, which is served in the step of the ports. The closure marks the
    /// other input as ready, so that the loop serves the other input later in the pass. It is set before the source first joins a
    /// loop, and does not change afterwards.
    var relay: (() -> Void)?
    /// True if the descriptor is an epoll set.
    let watchesSet: Bool
    /// The mutable state, which the loop reads each time that the kernel reports the descriptor as ready.
    ///
    /// `DescriptorSource+Watching` describes its parts.
    let state: ExclusivityUnchecked<State>

    /// Makes a source that is in no loop yet, for a descriptor that you close.
    ///
    /// Close the descriptor after ``invalidate()``, never before.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor to watch.
    ///   - interest: The events to watch the descriptor for; empty for a source that begins paused.
    ///   - trigger: The condition on which the handler is called.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread with the source and the readiness of the descriptor. The source holds the handler
    ///     until the source is invalidated.
    public convenience init(
        _ descriptor: CInt, interest: Interest, trigger: Trigger = .level, fileID: StaticString = #fileID,
        line: Int = #line, handler: @escaping (DescriptorSource, Readiness) -> Void
    ) {
        self.init(descriptor, nil, interest, trigger, SourceLocation(fileID, line), handler)
    }

    /// Makes a source that is in no loop yet, and that owns its descriptor.
    ///
    /// The source closes the descriptor when it is invalidated or destroyed.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor to watch.
    ///   - interest: The events to watch the descriptor for; empty for a source that begins paused.
    ///   - trigger: The condition on which the handler is called.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread with the source and the readiness of the descriptor. The source holds the handler
    ///     until the source is invalidated.
    public convenience init(
        _ descriptor: consuming OwnedDescriptor, interest: Interest, trigger: Trigger = .level,
        fileID: StaticString = #fileID, line: Int = #line,
        handler: @escaping (DescriptorSource, Readiness) -> Void
    ) {
        let number = descriptor.descriptor
        self.init(number, descriptor, interest, trigger, SourceLocation(fileID, line), handler)
    }

    private init(
        _ descriptor: CInt, _ owned: consuming OwnedDescriptor?, _ interest: Interest, _ trigger: Trigger,
        _ origin: SourceLocation, _ handler: @escaping (DescriptorSource, Readiness) -> Void
    ) {
        self.descriptor = descriptor
        self.owned = owned
        state = ExclusivityUnchecked(State(interest))
        self.trigger = trigger
        self.origin = origin
        watchesSet = false
        self.handler = { source, readiness in
            handler(source, readiness)
            return true
        }
    }

    /// Makes a source that represents another input in a loop.
    ///
    /// The other input owns the descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor to watch.
    ///   - interest: The events to watch it for.
    ///   - watchesSet: True if the descriptor is an epoll set.
    ///   - origin: The place where the other input was made.
    ///   - handler: Serves the other input, and returns true if there was an event to serve. It returns false if the event that
    ///     made the descriptor ready no longer exists.
    package init(
        _ descriptor: CInt, interest: Interest, watchesSet: Bool = false, origin: SourceLocation,
        handler: @escaping (DescriptorSource, Readiness) -> Bool
    ) {
        self.descriptor = descriptor
        state = ExclusivityUnchecked(State(interest))
        trigger = .level
        self.watchesSet = watchesSet
        self.origin = origin
        self.handler = handler
    }

    /// Sets the handler that is called when the kernel refuses to watch the descriptor.
    ///
    /// The loop calls the handler on its thread if the kernel refuses to resume watching the descriptor after a run in another
    /// mode, or to watch it for another ``interest``. The kernel refuses if it has no memory (`ENOMEM`), or if the user of the
    /// process watches too many descriptors (`ENOSPC`).
    ///
    /// While the loop runs in a mode of the source, it retries after pauses that grow from a millisecond to a second. No readiness
    /// is lost: it is reported when the kernel watches the descriptor again. The handler is called when the kernel first refuses,
    /// and not again while the retries fail. The handler is allowed to invalidate the source. Without a handler,
    /// ``RunLoopDiagnostics`` reports the refusal.
    ///
    /// If the kernel refuses while you add the source, ``schedule(in:forMode:)`` throws the error instead. Once the source is
    /// invalid, the call does nothing.
    ///
    /// - Parameter handler: Called with the source and the error.
    ///
    /// > Thread safety: one thread; after the source is added, the thread of its loop.
    public func onWatchRefused(_ handler: @escaping (DescriptorSource, SystemError) -> Void) {
        _ = membership.loop?.requireCurrent("DescriptorSource.onWatchRefused")
        if isValid { watchRefused.replace(with: handler) }
    }

    /// Removes the source from its loop for good, and releases its handler.
    ///
    /// The handler does not start afterwards. If the source owns its descriptor, the descriptor is closed. A second call does
    /// nothing.
    ///
    /// On another thread than the loop's, the loop gives back the source and closes an owned descriptor in its next pass. A
    /// descriptor that the source does not own may be closed as soon as the call has returned, on any thread.
    ///
    /// > Thread safety: any thread: <doc:Ends>.
    public func invalidate() { endAnywhere() }
}

@available(*, unavailable)
extension DescriptorSource: Sendable {}

extension DescriptorSource: CustomStringConvertible {
    /// The descriptor, and the place where the source was made.
    public var description: String { "source of descriptor \(descriptor) made at \(origin)" }
}
