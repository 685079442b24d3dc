internal import Glibc

/// Calls a handler when a file descriptor is ready: a socket, a pipe, an eventfd.
///
/// A level-triggered source, the default, calls its handler in each pass in which the descriptor is ready, so a handler may
/// read as much or as little as it likes. An edge-triggered source calls its handler when the kernel reports new readiness, so
/// the handler must read or write until the kernel answers `EAGAIN`. In both cases the descriptor should be non-blocking.
///
/// ```swift
/// let source = DescriptorSource(socket, interest: .read) { source, readiness in
///     if !readRequest(from: source.descriptor) { source.invalidate() }
/// }
/// try RunLoop.current.add(source, forMode: .default)
/// ```
///
/// Several sources of one loop may watch the same descriptor if they have the same trigger, because the kernel keeps one
/// trigger for each descriptor.
///
/// The reported readiness is the kernel's answer in the same pass. If another handler of the pass has emptied the descriptor
/// since, a read answers `EAGAIN`. If several sources of the loop watch the descriptor, the loop asks the kernel again before
/// it calls each handler, so bytes that one of them has read are not reported to the others. A run of the loop inside the
/// handler does not call the handler again.
///
/// A source does not own its descriptor, unless you pass `closesDescriptor: true`. Remove or invalidate the source *before*
/// the descriptor is closed: if the loop finds that a descriptor was closed, it ends the program, because the number may stand
/// for another file by then.
///
/// <doc:Descriptors> shows a connection.
///
/// > Thread safety: one thread; once it is added, the thread of its loop.
public final class DescriptorSource {
    /// The descriptor that the source watches.
    public let descriptor: CInt

    /// The events that the source watches the descriptor for; at least one.
    ///
    /// You may change it at any time, even in the handler and while the source is in no loop. The loop passes the change to
    /// the kernel before it next polls the kernel: of several changes only the last one counts, and setting the same interest
    /// again costs nothing. Readiness that the source is no longer interested in is not reported, even if the kernel has
    /// reported it before. After a change, an edge-triggered source reports once more everything that is ready.
    ///
    /// If the kernel refuses the change, ``onWatchRefused`` is called. Setting the interest of an invalid source does nothing.
    ///
    /// - Precondition: Not empty. To pause a source, remove it from its loop.
    public var interest: Interest {
        get { wanted }
        set {
            _ = membership.loop?.requireCurrent("DescriptorSource.interest")
            if newValue.isEmpty {
                misuse(
                    "DescriptorSource.interest: no interest; remove the source from its loop to pause it, or invalidate it"
                )
            }
            if !isValid || newValue == wanted { return }
            wanted = newValue
            interestDidChange()
        }
    }

    private var wanted: Interest

    /// The condition on which the handler is called.
    public let trigger: Trigger

    /// False for good once the source was invalidated.
    public private(set) var isValid = true

    /// Called on the loop's thread when the kernel refuses to watch the descriptor again after a run in another mode, or to
    /// watch it for another ``interest``.
    ///
    /// The kernel refuses if it has no memory (`ENOMEM`), or if the user of the process watches too many descriptors
    /// (`ENOSPC`). While a mode of the source runs, the loop retries, after pauses that grow from a millisecond to a second.
    /// Nothing is lost: the readiness of the descriptor is reported when it is watched again. The handler is called once each
    /// time that the loop begins to watch the source and the kernel refuses; it may invalidate the source. Without a handler,
    /// ``RunLoopDiagnostics`` reports the refusal.
    ///
    /// When you add the source, a refusal is an error of ``RunLoop/add(_:forMode:)-(DescriptorSource,_)`` instead.
    ///
    /// > Thread safety: one thread; once the source is added, the thread of its loop.
    public var onWatchRefused: ((DescriptorSource, SystemError) -> Void)?

    private let closesDescriptor: Bool
    /// Serves the source, and returns true if there was anything to serve.
    private(set) var handler: ((DescriptorSource, Readiness) -> Bool)?
    let origin: SourceLocation
    /// Called once this source is invalid, for the source that this one represents in the loop.
    var onInvalidation: (() -> Void)?
    /// Called instead of the handler, for an input that looks at its descriptors itself and is served later in the pass.
    var relay: (() -> Void)?
    /// True if the source represents another input, whose handler finds out itself what is ready.
    let standsForInput: Bool
    /// True if the descriptor is an epoll set.
    let watchesSet: Bool
    /// The state that the loop reads at each report of the kernel; `DescriptorSource+Watching` names its parts.
    let state = ExclusivityUnchecked(State())

    /// Makes a source that is in no loop yet.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor to watch.
    ///   - interest: The events to watch it for; at least one.
    ///   - trigger: The condition on which the handler is called.
    ///   - closesDescriptor: True if the source owns the descriptor: it closes the descriptor when it is invalidated or
    ///     destroyed.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - handler: Called on the loop's thread with the source and the readiness of the descriptor. The source holds it until
    ///     the source is invalidated.
    public init(
        _ descriptor: CInt, interest: Interest, trigger: Trigger = .level, closesDescriptor: Bool = false,
        fileID: StaticString = #fileID, line: Int = #line,
        handler: @escaping (DescriptorSource, Readiness) -> Void
    ) {
        if interest.isEmpty { misuse("DescriptorSource.init: no interest; use .read, .write or both") }
        self.descriptor = descriptor
        wanted = interest
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

    /// Makes a source that represents another input, which owns the descriptor, in a loop.
    ///
    /// - Parameters:
    ///   - descriptor: The descriptor to watch.
    ///   - interest: The events to watch it for.
    ///   - watchesSet: True if the descriptor is an epoll set.
    ///   - origin: The place where the other input was made.
    ///   - handler: Serves that input, and returns true if there was anything to serve. There may be nothing, because the
    ///     event that made the descriptor ready may be over.
    package init(
        _ descriptor: CInt, interest: Interest, watchesSet: Bool = false, origin: SourceLocation,
        handler: @escaping (DescriptorSource, Readiness) -> Bool
    ) {
        self.descriptor = descriptor
        wanted = interest
        trigger = .level
        closesDescriptor = false
        standsForInput = false
        self.watchesSet = watchesSet
        self.origin = origin
        self.handler = handler
    }

    /// Makes a source that represents an input with a set of descriptors in a loop, and keeps no mode alive.
    ///
    /// - Parameters:
    ///   - set: The descriptor of the set.
    ///   - origin: The place where the other input was made.
    ///   - handler: Serves that input, also when no descriptor of the set is ready. Returns true if there was anything to serve.
    init(set: CInt, origin: SourceLocation, handler: @escaping () -> Bool) {
        descriptor = set
        wanted = .read
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
    /// The handler does not start afterwards. If the source owns its descriptor, the descriptor is closed. Calling it again
    /// does nothing.
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
        // Released last, once all state is consistent: an object that the handler holds may call back while that object is
        // destroyed.
        withExtendedLifetime(released) {}
    }
}

@available(*, unavailable)
extension DescriptorSource: Sendable {}

extension DescriptorSource: CustomStringConvertible {
    /// The descriptor, and the place where the source was made.
    public var description: String { "source of descriptor \(descriptor) made at \(origin)" }
}
