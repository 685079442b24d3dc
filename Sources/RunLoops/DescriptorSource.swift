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
/// A source does not own its descriptor, unless you pass `closesDescriptor: true`. Remove or invalidate the source *before* the
/// descriptor is closed: if the loop finds that a descriptor was closed, it ends the program, because the number can then refer to
/// another file.
///
/// <doc:Descriptors> shows a connection.
///
/// > Thread safety: one thread; after the source is added, the thread of its loop.
public final class DescriptorSource {
    /// The descriptor that the source watches.
    public let descriptor: CInt

    /// The events that the source watches the descriptor for; at least one event.
    ///
    /// You can change the interest at any time, even in the handler and while the source is in no loop. The loop passes the change
    /// to the kernel before it next polls the kernel. Of several changes, only the last change takes effect, and setting the same
    /// interest again costs nothing. Readiness outside the new interest does not reach the handler, even if the kernel has reported
    /// it already. After a change, an edge-triggered source reports all present readiness once more.
    ///
    /// If the kernel refuses the change, ``onWatchRefused`` is called. Setting the interest of an invalid source does nothing.
    ///
    /// - Precondition: The interest is not empty. To pause a source, remove it from its loop.
    public var interest: Interest {
        get { state.value.interest }
        set {
            _ = membership.loop?.requireCurrent("DescriptorSource.interest")
            if newValue.isEmpty {
                misuse(
                    "DescriptorSource.interest: no interest; remove the source from its loop to pause it, or invalidate it"
                )
            }
            if !isValid || newValue == interest { return }
            state.value.interest = newValue
            interestDidChange()
        }
    }

    /// The condition on which the handler is called.
    public let trigger: Trigger

    /// True until the source is invalidated.
    public private(set) var isValid = true

    /// The handler that is called when the kernel refuses to watch the descriptor.
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
    /// If the kernel refuses while you add the source, ``RunLoop/add(_:forMode:)-(DescriptorSource,_)`` throws the error instead.
    ///
    /// > Thread safety: one thread; after the source is added, the thread of its loop.
    public var onWatchRefused: ((DescriptorSource, SystemError) -> Void)? {
        get { refusalHandler }
        set {
            // The old handler is released after the change, because destroying an object that it holds can set this property again.
            let replaced = refusalHandler
            refusalHandler = newValue
            withExtendedLifetime(replaced) {}
        }
    }
    private var refusalHandler: ((DescriptorSource, SystemError) -> Void)?

    private let closesDescriptor: Bool
    /// The closure that is called with the descriptor's readiness; nil after the source was invalidated.
    ///
    /// The closure returns true if there was an event to serve.
    private(set) var handler: ((DescriptorSource, Readiness) -> Bool)?
    let origin: SourceLocation
    /// The closure that is called after this source was invalidated.
    ///
    /// If this source represents another source in the loop, the closure invalidates that other source.
    var onInvalidation: (() -> Void)?
    /// The closure that the loop calls instead of the handler; nil if the loop calls the handler.
    ///
    /// The closure is set while the source represents another input, which polls its descriptors itself. The closure marks the
    /// other input as ready, so that the loop serves the other input later in the pass.
    var relay: (() -> Void)?
    /// True if the source represents another input that polls its own descriptors, which are all in one epoll set.
    let standsForInput: Bool
    /// True if the descriptor is an epoll set.
    let watchesSet: Bool
    /// The mutable state, which the loop reads each time that the kernel reports the descriptor as ready.
    ///
    /// `DescriptorSource+Watching` describes its parts.
    let state: ExclusivityUnchecked<State>

    /// Makes a source that is in no loop yet.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor to watch.
    ///   - interest: The events to watch the descriptor for; at least one event.
    ///   - trigger: The condition on which the handler is called.
    ///   - closesDescriptor: True if the source owns the descriptor: it closes the descriptor when it is invalidated or
    ///     destroyed.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread with the source and the readiness of the descriptor. The source holds the handler
    ///     until the source is invalidated.
    public init(
        _ descriptor: CInt, interest: Interest, trigger: Trigger = .level, closesDescriptor: Bool = false,
        fileID: StaticString = #fileID, line: Int = #line,
        handler: @escaping (DescriptorSource, Readiness) -> Void
    ) {
        if interest.isEmpty { misuse("DescriptorSource.init: no interest; use .read, .write or both") }
        self.descriptor = descriptor
        state = ExclusivityUnchecked(State(interest))
        self.trigger = trigger
        self.closesDescriptor = closesDescriptor
        self.origin = SourceLocation(fileID, line)
        standsForInput = false
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
        closesDescriptor = false
        standsForInput = false
        self.watchesSet = watchesSet
        self.origin = origin
        self.handler = handler
    }

    /// Makes a source that represents another input, whose descriptors are all in one epoll set.
    ///
    /// The source keeps no mode alive.
    ///
    /// - Parameters:
    ///   - set: The descriptor of the epoll set.
    ///   - origin: The place where the other input was made.
    ///   - handler: Serves the other input, even if no descriptor of the set is ready. Returns true if there was an event to serve.
    init(set: CInt, origin: SourceLocation, handler: @escaping () -> Bool) {
        descriptor = set
        state = ExclusivityUnchecked(State(.read))
        trigger = .level
        closesDescriptor = false
        standsForInput = true
        watchesSet = true
        self.origin = origin
        self.handler = { _, _ in handler() }
    }

    deinit { if closesDescriptor && isValid { close(descriptor) } }

    /// Removes the source from its loop for good, and releases its handler.
    ///
    /// The handler does not start afterwards. If the source owns its descriptor, the descriptor is closed. A second call does
    /// nothing.
    public func invalidate() {
        if !isValid { return }
        let loop = membership.loop?.requireCurrent("DescriptorSource.invalidate")
        isValid = false
        let released = (handler, onWatchRefused)
        handler = nil
        onWatchRefused = nil
        loop?.remove(self)
        if closesDescriptor { close(descriptor) }
        let onInvalidation = onInvalidation
        self.onInvalidation = nil
        onInvalidation?()
        // Released last, when all state is consistent, because destroying an object that the handler holds can call into this
        // source.
        withExtendedLifetime(released) {}
    }
}

@available(*, unavailable)
extension DescriptorSource: Sendable {}

extension DescriptorSource: CustomStringConvertible {
    /// The descriptor, and the place where the source was made.
    public var description: String { "source of descriptor \(descriptor) made at \(origin)" }
}
