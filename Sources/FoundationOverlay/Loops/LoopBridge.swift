internal import CFoundationLoops
public import RunLoops

/// Serves Foundation's run loop and the run loop of this package on one thread, whichever of them the thread runs.
///
/// ```swift
/// let bridge = try LoopBridge()
/// ```
///
/// While Foundation's loop runs, as in `Process.waitUntilExit` or the `wait` of XCTest, the timers, ports, sources and blocks of
/// this package are served. While the loop of this package runs, the timers, streams and performed blocks of Foundation are served.
/// The bridge serves the default mode of each loop while the other loop runs in a common mode. Neither loop polls: an idle thread
/// is not woken.
///
/// A bridge ends when its last reference is released; keep it for as long as both loops have something to serve. It is an input of
/// both loops, so no run ends because its mode has no inputs.
///
/// `@safe`: the link to Foundation's loop is used on the bridge's thread only, and only until it is ended, which happens once.
///
/// > Thread safety: only the thread that made the bridge.
@safe
public final class LoopBridge {
    /// A run on the thread's stack.
    private enum Run {
        case ours
        case foundations
        /// A run of Foundation's loop that the bridge makes, and that does not wait.
        case poll
        /// A run of our loop that the bridge makes, and that does not wait.
        case guestPass
    }

    private let loop: RunLoop
    private let guest: RunLoop.Guest
    private var link: OpaquePointer?
    /// The epoll set in which Foundation's loop waits in its default mode.
    private var hostSet: CInt = -1
    private var observer: RunLoop.Observer?
    /// A source that keeps a run of our loop from ending because its mode has no other inputs.
    private let anchor = ManualSource {}
    /// The source that watches the epoll set of Foundation's loop; nil unless our loop sleeps on behalf of both loops.
    private var source: DescriptorSource?
    /// True while Foundation's loop waits for both loops.
    private var watchesGuest = false
    /// The runs on the thread's stack, the innermost one last.
    private var runs: [Run] = []
    /// True if the next run of Foundation's loop is one that the bridge makes.
    private var beginsPoll = false
    /// True if the next run of our loop is one that the bridge makes.
    private var beginsGuestPass = false

    /// Connects the loops of the calling thread.
    ///
    /// - Throws: `SystemError` if `/proc/self/fdinfo` cannot be read, which the bridge needs to find the epoll set in which
    ///   Foundation's loop waits.
    public init() throws(SystemError) {
        loop = .current
        guest = try RunLoop.Guest()
        // Safe: the link is ended before the bridge is destroyed.
        unsafe link = runloops_foundation_observe(
            guest.descriptor,
            { info, activity in
                unsafe Unmanaged<LoopBridge>.fromOpaque(info).takeUnretainedValue().foundationDid(activity)
            }, Unmanaged.passUnretained(self).toOpaque())
        watch()
        do throws(SystemError) { hostSet = try guest.findHostSet() } catch {
            invalidate()
            throw error
        }
        let observer = RunLoop.Observer(activities: [.entry, .beforeWaiting, .exit]) {
            [weak self] _, activity in self?.ourLoopDid(activity)
        }
        loop.add(observer, forMode: .common)
        loop.add(anchor, forMode: .common)
        self.observer = observer
    }

    deinit { invalidate() }

    /// Separates the loops: each serves its own inputs only, as without a bridge.
    ///
    /// Calling it again does nothing.
    public func invalidate() {
        guard let link = unsafe link else { return }
        unsafe self.link = nil
        observer?.invalidate()
        anchor.invalidate()
        source?.invalidate()
        source = nil
        unsafe runloops_foundation_end(link)
    }

    // MARK: - Foundation's loop

    private func foundationDid(_ activity: UInt) {
        switch activity {
        case UInt(RUNLOOPS_FOUNDATION_ENTRY):
            runs.append(beginsPoll ? .poll : .foundations)
            beginsPoll = false
            watch()
        case UInt(RUNLOOPS_FOUNDATION_EXIT):
            _ = runs.popLast()
            watch()
        case UInt(RUNLOOPS_FOUNDATION_BEFORE_WAITING):
            // Work that has arrived since the sources were served is served before the wait.
            if mayServeGuest, guest.prepare(), let link = unsafe link {
                unsafe runloops_foundation_wake(link)
            }
        case UInt(RUNLOOPS_FOUNDATION_BEFORE_SOURCES):
            if mayServeGuest, guest.prepare() { serveGuest() }
        default:
            if mayServeGuest { serveGuest() }
        }
    }

    /// True if the innermost run is one of Foundation's loop and no run of our loop is on the stack, because such a run waits for
    /// its handler to return.
    private var mayServeGuest: Bool {
        runs.last == .foundations && !runs.contains(.ours) && !runs.contains(.guestPass)
    }

    private func serveGuest() {
        beginsGuestPass = true
        guest.serve()
        beginsGuestPass = false
    }

    // MARK: - Our loop

    private func ourLoopDid(_ activity: RunLoop.Activity) {
        if activity == .entry {
            runs.append(beginsGuestPass ? .guestPass : .ours)
            beginsGuestPass = false
            watch()
        } else if activity == .exit {
            _ = runs.popLast()
            watch()
        } else {
            pollFoundation()
        }
    }

    /// Serves Foundation's loop without waiting.
    private func pollFoundation() {
        guard runs.last == .ours else { return }
        // The number of polls is limited, so that a source that always has more work does not hold up our loop.
        for _ in 0..<64 {
            beginsPoll = true
            let hasMore = runloops_foundation_poll()
            // If Foundation's loop has nothing to serve, it begins no run, so the flag is still set.
            beginsPoll = false
            if !hasMore { return }
        }
        loop.perform {}
    }

    // MARK: - Waiting

    /// Makes the loop that waits watch the other loop, and ends the watch in the other direction.
    ///
    /// Both directions at the same time are impossible: the kernel allows no cycle of epoll sets.
    private func watch() {
        guard let link = unsafe link else { return }
        let isOurs = runs.last == .ours || runs.last == .poll
        if isOurs && watchesGuest {
            watchesGuest = false
            unsafe runloops_foundation_watch(link, false)
        }
        if !isOurs {
            source?.invalidate()
            source = nil
            if !watchesGuest { unsafe runloops_foundation_watch(link, true) }
            watchesGuest = true
        } else if source == nil && hostSet >= 0 {
            let source = DescriptorSource(hostSet, interest: .read) { [weak self] _, _ in
                self?.pollFoundation()
            }
            self.source = source
            do { try loop.add(source, forMode: .common) } catch { self.source = nil }
        }
    }
}

@available(*, unavailable)
extension LoopBridge: Sendable {}
