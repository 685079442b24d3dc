internal import CoreFoundation
internal import RunLoops
internal import Synchronization

internal import class RunLoops.RunLoop

/// What an object of CoreFoundation, a timer, a source or an observer, does in the loops of this package.
///
/// The object that a function of this module makes has an instance of a subclass as the information of its context, and releases it
/// when it is invalidated or destroyed. So there is no table of objects, and nothing is left behind. In CoreFoundation's own loop, the
/// object works as well.
///
/// `@unchecked Sendable`: `members` is guarded by its lock; the rest belongs to the subclasses.
class LoopObject: @unchecked Sendable {
    private struct Member: Hashable {
        let loop: ObjectIdentifier
        let mode: RunLoop.Mode
    }

    private let members = Mutex<Set<Member>>([])

    /// Notes that the object is in a mode.
    ///
    /// - Returns: False if it was there already.
    final func enter(_ served: ServedLoop, _ mode: RunLoop.Mode) -> Bool {
        members.withLock { $0.insert(Member(loop: ObjectIdentifier(served), mode: mode)).inserted }
    }

    /// Notes that the object is no longer in a mode.
    ///
    /// - Returns: False if it was not there.
    final func leave(_ served: ServedLoop, _ mode: RunLoop.Mode) -> Bool {
        members.withLock { $0.remove(Member(loop: ObjectIdentifier(served), mode: mode)) != nil }
    }

    /// True if the object is in no mode.
    final var isNowhere: Bool { members.withLock { $0.isEmpty } }

    /// True if the object was added to a mode, or as one of the objects in the common modes, and not removed since.
    final func has(_ served: ServedLoop, _ mode: RunLoop.Mode) -> Bool {
        members.withLock { $0.contains(Member(loop: ObjectIdentifier(served), mode: mode)) }
    }

    /// Notes that the object is in no mode of a loop any more.
    ///
    /// - Returns: The modes.
    final func leaveAll(_ served: ServedLoop) -> [RunLoop.Mode] {
        members.withLock { members in
            let own = members.filter { $0.loop == ObjectIdentifier(served) }
            members.subtract(own)
            return own.map(\.mode)
        }
    }

    /// True if the object is in a mode: by itself, or as one of the objects in the common modes.
    final func isIn(_ served: ServedLoop, _ mode: RunLoop.Mode) -> Bool {
        let id = ObjectIdentifier(served)
        let isCommon =
            mode == .default
            || served.loop.isCurrent && served.loop.detailsHere?.commonModes.contains(mode.rawValue) == true
        return members.withLock {
            $0.contains(Member(loop: id, mode: mode))
                || isCommon && $0.contains(Member(loop: id, mode: .common))
        }
    }

    /// Returns the object with which a context was made, if the context was made here.
    ///
    /// - Parameters:
    ///   - info: The information of the context; nil if the object was invalidated.
    ///   - release: The function of the context that releases the information.
    /// - Returns: The object; nil for a context of another library.
    static func of(_ info: UnsafeMutableRawPointer?, _ release: ContextRelease?) -> LoopObject? {
        // The functions are compared by their addresses.
        guard let info = unsafe info, let release = unsafe release,
            unsafe unsafeBitCast(release, to: UInt.self) == unsafeBitCast(releaseObject, to: UInt.self)
        else { return nil }
        // Safe: only `retained` makes contexts with this function, and their information is such an object.
        return unsafe Unmanaged<LoopObject>.fromOpaque(info).takeUnretainedValue()
    }

    /// A reference to this object for a context, which `releaseObject` releases.
    final func retained() -> UnsafeMutableRawPointer { unsafe Unmanaged.passRetained(self).toOpaque() }
}

/// The type of a context's function that releases its information.
typealias ContextRelease = @convention(c) (UnsafeRawPointer?) -> Void

/// Releases the information of a context.
let releaseObject: ContextRelease = { info in
    // Safe: the information is a reference that `LoopObject.retained()` has made, and CoreFoundation releases it once.
    if let info = unsafe info { unsafe Unmanaged<LoopObject>.fromOpaque(info).release() }
}

/// The information of a user's context, which is retained and released as the context says.
///
/// `@safe` and `@unchecked Sendable`: the values are constant, and used as the user's context says.
@safe
final class UserInformation: @unchecked Sendable {
    let info: UnsafeMutableRawPointer?
    private let releases: ContextRelease?

    init(
        _ info: UnsafeMutableRawPointer?,
        _ retain: (@convention(c) (UnsafeRawPointer?) -> UnsafeRawPointer?)?, _ release: ContextRelease?
    ) {
        unsafe self.info = unsafe retain.map { unsafe UnsafeMutableRawPointer(mutating: $0(info)) } ?? info
        unsafe releases = release
    }

    deinit { unsafe releases?(info) }
}
