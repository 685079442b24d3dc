internal import CFoundationLoops
internal import RunLoops

/// The connection of the two loops of a thread, which all bridges of the thread share.
///
/// `@safe`: only the bridge's thread uses `link`, the registration with Foundation's loop. The registration is ended
/// once, and is not used after that.
///
/// > Thread safety: only the thread that made the bridge.
@safe
final class ThreadBridge {
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

    /// The weak reference of a thread's loop to its bridge.
    private final class Reference {
        weak var bridge: ThreadBridge?
    }

    /// Returns the bridge of the calling thread, and makes it if there is none.
    static func current() throws(SystemError) -> ThreadBridge {
        let reference = RunLoop.current.companion(ObjectIdentifier(Reference.self)) { Reference() }
        if let known = reference.bridge { return known }
        let new = try ThreadBridge()
        reference.bridge = new
        return new
    }

    private init() throws(SystemError) {
        loop = .current
        guest = try RunLoop.Guest()
        // Safe: the pointer to the bridge stays valid, because the link is ended before the bridge is destroyed.
        unsafe link = runloops_foundation_observe(
            guest.descriptor,
            { info, activity in
                unsafe Unmanaged<ThreadBridge>.fromOpaque(info).takeUnretainedValue().foundationDid(activity)
            }, Unmanaged.passUnretained(self).toOpaque())
        // Foundation's loop must watch the guest's descriptor while its epoll set is looked for.
        watchGuest(true)
        do throws(SystemError) { hostSet = try guest.findHostSet() } catch {
            end()
            throw error
        }
        let observer = RunLoop.Observer(activities: [.entry, .beforeWaiting, .exit]) {
            [weak self] _, activity in self?.ourLoopDid(activity)
        }
        loop.add(observer, forMode: .common)
        loop.add(anchor, forMode: .common)
        self.observer = observer
        joinRuns(observer)
        watch()
    }

    deinit { end() }

    /// Learns of the runs that are under way, because the bridge is made in a handler.
    private func joinRuns(_ observer: RunLoop.Observer) {
        if runloops_foundation_runs() { runs.append(.foundations) }
        guard let mode = loop.currentMode else { return }
        runs += Array(repeating: .ours, count: max(loop.detailsHere?.depth ?? 1, 1))
        // The end of this run is also seen if its mode is not a common one.
        loop.add(observer, forMode: mode)
    }

    private func end() {
        // In a forked child, Foundation's epoll set is the parent's, too.
        guard !Fork.isChild, let link = unsafe link else { return }
        unsafe self.link = nil
        observer?.invalidate()
        anchor.invalidate()
        source?.invalidate()
        source = nil
        unsafe runloops_foundation_end(link)
    }

    // MARK: - Foundation's loop

    private func foundationDid(_ activity: UInt) {
        // The runs around this one are known only by their end if they had begun before the bridge.
        if runs.isEmpty, activity != UInt(RUNLOOPS_FOUNDATION_ENTRY) { runs.append(.foundations) }
        switch activity {
        case UInt(RUNLOOPS_FOUNDATION_ENTRY):
            runs.append(beginsPoll ? .poll : .foundations)
            beginsPoll = false
            watch()
        case UInt(RUNLOOPS_FOUNDATION_EXIT):
            leave(.foundations, .poll)
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
    /// The stack must contain no run of our loop, because that run is in the middle of a handler, and continues only when that
    /// handler returns.
    private var mayServeGuest: Bool { loop.currentMode == nil }

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
            leave(.ours, .guestPass)
        } else {
            pollFoundation()
        }
    }

    /// Notes the end of the innermost run of a loop.
    private func leave(_ run: Run, _ other: Run) {
        if let index = runs.lastIndex(where: { $0 == run || $0 == other }) { runs.remove(at: index) }
        watch()
    }

    /// Serves Foundation's loop without waiting.
    private func pollFoundation() {
        guard runs.last == .ours else { return }
        // The number of polls is limited, so that a source that always has more work does not hold up our loop.
        for _ in 0..<64 {
            beginsPoll = true
            let hasMore = runloops_foundation_poll()
            // If Foundation's loop was stopped, the poll begins no run, and the flag is still set. It is cleared here.
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
        if unsafe link == nil { return }
        let isOurs = runs.last == .ours || runs.last == .poll
        // While our loop is in the middle of a handler, nobody can serve it, so its work must not end the waits of Foundation's loop.
        let isFree = !isOurs && !runs.contains(.ours) && !runs.contains(.guestPass)
        if watchesGuest && !isFree { watchGuest(false) }
        if !isOurs {
            source?.invalidate()
            source = nil
            if isFree { watchGuest(true) }
        } else if source == nil && hostSet >= 0 {
            let source = DescriptorSource(hostSet, interest: .read) { [weak self] _, _ in
                self?.pollFoundation()
            }
            self.source = source
            do { try loop.add(source, forMode: .common) } catch { self.source = nil }
        }
    }

    /// Makes Foundation's loop watch our loop, or not.
    private func watchGuest(_ watches: Bool) {
        guard watches != watchesGuest, let link = unsafe link else { return }
        watchesGuest = watches
        unsafe runloops_foundation_watch(link, watches)
    }
}

@available(*, unavailable)
extension ThreadBridge: Sendable {}
