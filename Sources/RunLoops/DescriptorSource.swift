internal import CLibEvent
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
/// What is reported is true when the handler is called: a descriptor that another handler of the same pass
/// has emptied is not reported any more. While its handler runs, a run inside the handler does not call it
/// again.
///
/// A source does not own its descriptor, unless it is told to close it. Remove or invalidate the source
/// *before* the descriptor is closed: a closed one that the loop comes upon ends the program, because its number
/// may be somebody else's by then.
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

    var membership = Membership()
    /// In the loop's list of ready descriptors.
    var isReady = false

    private let closesDescriptor: Bool
    private var handler: ((DescriptorSource, Readiness) -> Void)?
    private let origin: SourceLocation
    private var event: Event?
    private var isWatched = false
    /// Its handler is on the stack.
    private var isServing = false
    /// It became ready again while its handler was on the stack.
    private var becameReadyMeanwhile = false
    private var position = 0

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
        self.handler = handler
    }

    deinit { if closesDescriptor && isValid { close(descriptor) } }

    /// Takes the source out of its loop for good, and lets go of its handler.
    ///
    /// Again is harmless.
    ///
    /// After it no handler starts. A descriptor that the source owns is closed.
    public func invalidate() {
        if !isValid { return }
        let core = membership.loop?.requireCurrent("DescriptorSource.invalidate")
        isValid = false
        handler = nil
        core?.removeFromLoop(self)
        if closesDescriptor { close(descriptor) }
    }
}

@available(*, unavailable)
extension DescriptorSource: Sendable {}

extension DescriptorSource: CustomStringConvertible {
    /// What the source is, and where it was made.
    public var description: String { "source of descriptor \(descriptor) made at \(origin)" }
}

extension DescriptorSource {
    /// What a descriptor is watched for.
    ///
    /// > Thread safety: a value.
    public struct Interest: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Makes an interest from its bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Something can be read, or a connection accepted.
        public static let read = Interest(rawValue: 1)
        /// Something can be written, or a connection has been made.
        public static let write = Interest(rawValue: 2)
    }

    /// What a descriptor is ready for.
    ///
    /// > Thread safety: a value.
    public struct Readiness: OptionSet, Hashable, Sendable {
        /// The bits.
        public let rawValue: UInt8
        /// Makes a readiness from its bits.
        ///
        /// - Parameter rawValue: The bits.
        public init(rawValue: UInt8) { self.rawValue = rawValue }
        /// Reading does not block.
        public static let readable = Readiness(rawValue: 1)
        /// Writing does not block.
        public static let writable = Readiness(rawValue: 2)
        /// The other end has closed, or has ended writing.
        ///
        /// Read until the end if anything may be left.
        public static let hangUp = Readiness(rawValue: 4)
        /// An error waits; reading or writing, or `SO_ERROR`, tells which.
        public static let error = Readiness(rawValue: 8)
    }

    /// When a source's handler is called.
    ///
    /// > Thread safety: a value.
    public enum Trigger: Hashable, Sendable {
        /// In each pass in which the descriptor is ready.
        case level
        /// When the descriptor has become ready anew.
        case edge
    }
}

extension DescriptorSource: LoopInput {
    var keepsModeAlive: Bool { true }

    func join(_ core: LoopCore, _ mode: RunLoop.Mode) throws(SystemError) {
        guard isValid, !core.hasEnded else { return }
        if let other = membership.loop, other !== core {
            misuse("RunLoop.add(source): the \(self) is in another loop; remove it there first")
        }
        if membership.loop == nil {
            try requirePollable()
            try startWatching(core)
            position = core.descriptors.count
            core.descriptors.append(self)
        }
        core.add(self, to: mode)
        update(in: core)
    }

    /// Throws what epoll would, before libevent asks it: libevent would write a warning of its own.
    private func requirePollable() throws(SystemError) {
        var status = stat()
        // Safe: the kernel fills our own value.
        _ = try systemCall("fstat") { unsafe fstat(descriptor, &status) }
        if !runloops_can_be_polled(status.st_mode) { throw SystemError(call: "epoll_ctl", code: EPERM) }
    }

    private func startWatching(_ core: LoopCore) throws(SystemError) {
        var flags = trigger == .edge ? EV_ET : 0
        if interest.contains(.read) { flags |= EV_READ }
        if interest.contains(.write) { flags |= EV_WRITE }
        // Safe: the event is freed with this object, or before.
        let context = unsafe Unmanaged.passUnretained(self).toOpaque()
        let event = try unsafe Event(core.poller.base, descriptor, flags, context: context) { _, _, context in
            guard let context = unsafe context else { return }
            unsafe Unmanaged<DescriptorSource>.fromOpaque(context).takeUnretainedValue().noteReady()
        }
        try event.watch()
        self.event = consume event
        isWatched = true
        core.poller.watchCount += 1
    }

    func didLeave(_ loop: LoopCore) {
        setWatched(false, in: loop)
        event = nil
        let last = loop.descriptors.removeLast()
        if last !== self {
            loop.descriptors[position] = last
            last.position = position
        }
        if loop.hasEnded { invalidate() }
    }

    /// Brings the kernel's set up to date after this source has joined or left a mode.
    func update(in core: LoopCore) {
        guard membership.loop === core, let mode = core.watchedMode else { return }
        watch(membership.contains(mode), in: core)
    }

    /// The watched mode is another one: `wanted` says whether this source is in it.
    func watch(_ wanted: Bool, in core: LoopCore) {
        // A level-triggered one whose handler is on the stack would be reported for ever; it is watched
        // again when the handler has returned.
        setWatched(wanted && !(isServing && becameReadyMeanwhile && trigger == .level), in: core)
    }

    private func setWatched(_ wanted: Bool, in core: LoopCore) {
        if wanted == isWatched { return }
        isWatched = wanted
        core.poller.watchCount += wanted ? 1 : -1
        do {
            if wanted { try event?.watch() } else { event?.unwatch() }
        } catch {
            fatalError(
                "RunLoop: \(error) for the \(self), which it watched before; was the descriptor closed?")
        }
    }

    /// The kernel reports the descriptor.
    ///
    /// Inside libevent: only note it.
    private func noteReady() {
        guard let loop = membership.loop else { return }
        if isServing {
            becameReadyMeanwhile = true
            watch(isWatched, in: loop)
        } else if !isReady {
            isReady = true
            loop.readyDescriptors.append(self)
        }
    }

    /// Calls the handler, if the descriptor is ready still.
    ///
    /// - Returns: Whether the handler was called.
    func serve(in core: LoopCore) -> Bool {
        guard let handler else { return false }
        let readiness = currentReadiness()
        if readiness.isEmpty { return false }
        isServing = true
        core.callHandler(origin) { handler(self, readiness) }
        isServing = false
        if becameReadyMeanwhile, isValid, membership.loop === core {
            becameReadyMeanwhile = false
            switch trigger {
            case .level: update(in: core)
            case .edge: noteReady()
            }
        }
        becameReadyMeanwhile = false
        return true
    }

    /// Asks the kernel what the descriptor is ready for now: another handler may have emptied it since it was
    /// reported, and libevent folds hang-ups and errors into reading and writing.
    private func currentReadiness() -> Readiness {
        var entry = pollfd(fd: descriptor, events: 0, revents: 0)
        if interest.contains(.read) { entry.events |= Int16(POLLIN | runloops_poll_hang_up) }
        if interest.contains(.write) { entry.events |= Int16(POLLOUT) }
        // Safe: the kernel reads and fills our own value.
        while unsafe poll(&entry, 1, 0) == -1 && errno == EINTR {}
        let events = CInt(entry.revents)
        if events & POLLNVAL != 0 {
            misuse("RunLoop: the descriptor of the \(self) was closed; invalidate the source first")
        }
        var readiness: Readiness = []
        if events & POLLIN != 0 { readiness.insert(.readable) }
        if events & POLLOUT != 0 { readiness.insert(.writable) }
        if events & (POLLHUP | runloops_poll_hang_up) != 0 { readiness.insert(.hangUp) }
        if events & POLLERR != 0 { readiness.insert(.error) }
        return readiness
    }
}
