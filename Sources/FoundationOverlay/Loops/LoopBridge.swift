internal import CFoundationLoops
public import RunLoops

/// Lets Foundation's run loop and the run loop of this package share a thread: while one of them runs, the other is served, too.
///
/// ```swift
/// let bridge = try LoopBridge()
/// ```
///
/// While Foundation's loop runs, the bridge serves the timers, ports, sources and blocks of this package. For example,
/// `Process.waitUntilExit` and the `wait` of XCTest run Foundation's loop. While the loop of this package runs, the bridge serves
/// the timers, streams and performed blocks of Foundation. It serves the default mode of each loop while the other loop runs in a
/// common mode. Neither loop polls: an idle thread is not woken.
///
/// A bridge ends when its last reference is released; keep it for as long as both loops have something to serve. The bridge is an
/// input of both loops, so no run of either loop ends because its mode has no inputs.
///
/// `@safe`: only the bridge's thread uses `link`, the registration with Foundation's loop. The registration is ended
/// once, and is not used after that.
///
/// > Thread safety: only the thread that made the bridge.
@safe
public final class LoopBridge {
    /// A run, of either loop, that is in progress on the thread.
    private enum Run {
        case ours
        case foundations
        /// A run of Foundation's loop that the bridge itself has begun, and that does not wait.
        case poll
        /// A run of our loop that the bridge itself has begun, and that does not wait.
        case guestPass
    }

    private let loop: RunLoop
    private let guest: RunLoop.Guest
    private var link: OpaquePointer?
    /// The epoll set in which Foundation's loop waits in its default mode.
    private var hostSet: CInt = -1
    private var observer: RunLoop.Observer?
    /// A source that keeps a run of our loop going even if its mode has no other inputs.
    private let anchor = ManualSource {}
    /// The source in our loop that watches the epoll set of Foundation's loop.
    ///
    /// The source exists only while our loop is the loop of the innermost run, not counting the runs that the bridge has begun
    /// itself.
    private var source: DescriptorSource?
    /// True while Foundation's loop watches our loop.
    ///
    /// During this time, work for our loop also ends the wait of Foundation's loop.
    private var watchesGuest = false
    /// The runs on the thread's stack, the innermost one last.
    private var runs: [Run] = []
    /// True if the bridge itself begins the next run of Foundation's loop.
    private var beginsPoll = false
    /// True if the bridge itself begins the next run of our loop.
    private var beginsGuestPass = false

    /// Makes a bridge between Foundation's loop and this package's loop on the calling thread.
    ///
    /// - Throws: `SystemError` if `/proc/self/fdinfo` cannot be read, which the bridge needs to find the epoll set in which
    ///   Foundation's loop waits.
    public init() throws(SystemError) {
        loop = .current
        guest = try RunLoop.Guest()
        // Safe: the pointer to the bridge stays valid, because the link is ended before the bridge is destroyed.
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
            // If work for our loop has arrived since the sources were served, Foundation's loop is woken, so that this work is
            // served before the wait.
            if mayServeGuest, guest.prepare(), let link = unsafe link {
                unsafe runloops_foundation_wake(link)
            }
        case UInt(RUNLOOPS_FOUNDATION_BEFORE_SOURCES):
            if mayServeGuest, guest.prepare() { serveGuest() }
        default:
            if mayServeGuest { serveGuest() }
        }
    }

    /// True if the bridge may serve our loop now, from within a run of Foundation's loop.
    ///
    /// The innermost run must be a run of Foundation's loop that the bridge did not begin itself. The stack must contain no run of
    /// our loop, because that run is in the middle of a handler, and continues only when that handler returns.
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
            // If Foundation's loop has nothing to serve, the poll begins no run, and the flag is still set. It is cleared here.
            beginsPoll = false
            if !hasMore { return }
        }
        loop.perform {}
    }

    // MARK: - Waiting

    /// Makes the loop that waits next also watch the other loop, so that work for either of them ends the wait.
    ///
    /// The loop of the innermost run waits next. Runs that the bridge has begun itself do not count. If there is no other run,
    /// Foundation's loop waits next. The kernel allows no cycle of epoll sets, so the two loops cannot watch each other at the same
    /// time. So if the other loop still watches the loop that waits next, this method first ends that watch.
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
