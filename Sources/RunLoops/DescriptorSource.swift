internal import Glibc

/// Calls a handler when a file descriptor is ready: a socket, a pipe, an eventfd.
///
/// A level-triggered source, the default, calls its handler in each pass in which the descriptor is ready, so a handler
/// may read as much or as little as it likes. An edge-triggered one calls it when the descriptor has become
/// ready anew: its handler reads or writes until the kernel answers `EAGAIN`. Either way the descriptor should be
/// non-blocking.
///
/// ```swift
/// let source = DescriptorSource(socket, interest: .read) { source, readiness in
///     if !readRequest(from: source.descriptor) { source.invalidate() }
/// }
/// try RunLoop.current.add(source, forMode: .default)
/// ```
///
/// Several sources of one loop may watch the same descriptor, if they have the same trigger: the kernel knows one for each
/// descriptor.
///
/// What is reported is true when the handler is called: a descriptor that another handler of the same pass
/// has emptied is not reported any more. While its handler runs, a run inside the handler does not call it
/// again.
///
/// A source does not own its descriptor, unless it is told to close it. Remove or invalidate the source
/// *before* the descriptor is closed: a closed one that the loop comes upon ends the program, because its number
/// may be another file's by then.
///
/// <doc:Descriptors> shows a connection.
///
/// > Thread safety: one thread: once it is added, its loop's.
public final class DescriptorSource {
    /// What is watched.
    public let descriptor: CInt

    /// What for.
    public let interest: Interest

    /// When the handler is called.
    public let trigger: Trigger

    /// False once it was invalidated, for good.
    public private(set) var isValid = true

    /// Called on the loop's thread when the kernel refuses to watch the descriptor again after a run in another mode.
    ///
    /// The kernel refuses for lack of memory (`ENOMEM`), or because its user has too many descriptors watched (`ENOSPC`).
    /// While a mode of the source runs, the loop tries again, after pauses that grow from a millisecond to a second. Nothing
    /// is lost: what the descriptor is ready for is reported when it is watched again. The handler is called once for each
    /// time that the loop begins to watch the source and is refused; it may invalidate the source. Without one, the loop
    /// writes a line to standard error instead.
    ///
    /// The first time that the source is watched, when it is added, a refusal is an error of
    /// ``RunLoop/add(_:forMode:)-(DescriptorSource,_)`` instead.
    ///
    /// > Thread safety: one thread: once the source is added, its loop's.
    public var onWatchRefused: ((DescriptorSource, SystemError) -> Void)?

    private let closesDescriptor: Bool
    /// Says whether there was anything to serve.
    private(set) var handler: ((DescriptorSource, Readiness) -> Bool)?
    let origin: SourceLocation
    /// Called once it is invalid, for a source that this one stands for.
    var onInvalidation: (() -> Void)?
    /// Called instead of the handler, for what looks at its descriptors itself and is served later in the pass.
    var relay: (() -> Void)?
    /// What each report of the kernel looks at; `DescriptorSource+Watching` gives the parts their names.
    let state = ExclusivityUnchecked(State())

    /// Makes a source, which is in no loop yet.
    ///
    /// - Parameters:
    ///   - descriptor: What is watched.
    ///   - interest: What for.
    ///   - trigger: When the handler is called.
    ///   - closesDescriptor: Whether the source owns the descriptor: then it is closed when the source becomes
    ///     invalid or goes.
    ///   - fileID: Where it was made, for diagnostics.
    ///   - line: Where it was made, for diagnostics.
    ///   - handler: Called on the loop's thread with the source and what the descriptor is ready for.
    public init(
        _ descriptor: CInt, interest: Interest, trigger: Trigger = .level, closesDescriptor: Bool = false,
        fileID: StaticString = #fileID, line: Int = #line,
        handler: @escaping (DescriptorSource, Readiness) -> Void
    ) {
        if interest.isEmpty { misuse("DescriptorSource.init: no interest; use .read, .write or both") }
        self.descriptor = descriptor
        self.interest = interest
        self.trigger = trigger
        self.closesDescriptor = closesDescriptor
        self.origin = SourceLocation(fileID, line)
        self.handler = { source, readiness in
            handler(source, readiness)
            return true
        }
    }

    /// Makes one that stands in a loop for a source that was made elsewhere, and has the descriptor.
    ///
    /// - Parameters:
    ///   - descriptor: What is watched.
    ///   - interest: What for.
    ///   - origin: Where the other source was made.
    ///   - handler: Serves that source, and says whether there was anything to serve: what made the descriptor ready may be
    ///     gone.
    package init(
        _ descriptor: CInt, interest: Interest, origin: SourceLocation,
        handler: @escaping (DescriptorSource, Readiness) -> Bool
    ) {
        self.descriptor = descriptor
        self.interest = interest
        trigger = .level
        closesDescriptor = false
        self.origin = origin
        self.handler = handler
    }

    deinit { if closesDescriptor && isValid { close(descriptor) } }

    /// Takes the source out of its loop for good, and lets go of its handler.
    ///
    /// No handler of it starts afterwards. A descriptor that the source owns is closed. Again is harmless.
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
        // What the handler holds may be the user's, and may come back here while it is destroyed: when all is in order.
        withExtendedLifetime(released) {}
    }
}

@available(*, unavailable)
extension DescriptorSource: Sendable {}

extension DescriptorSource: CustomStringConvertible {
    /// What the source is, and where it was made.
    public var description: String { "source of descriptor \(descriptor) made at \(origin)" }
}
