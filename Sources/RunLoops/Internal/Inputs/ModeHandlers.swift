/// A handler that is called in one mode, or in all common modes.
@usableFromInline
package protocol ModeHandler {
    /// The mode that the handler was added for; ``RunLoop/Mode/common`` for all common modes.
    var mode: RunLoop.Mode { get }
}

/// The handlers of an input, which can have a different handler in each mode.
///
/// A value of this type is for use by one thread. A handler can hold objects of the user, whose `deinit` can call into the input
/// again. So a removed handler is returned to the caller, which must make its own state consistent before it releases the handler.
///
/// The type is not copyable. Otherwise a copy could be made for each message, and each copy would retain the lists.
@usableFromInline
package struct ModeHandlers<Handler: ModeHandler>: ~Copyable {
    /// The modes that have their own handler.
    @usableFromInline var modes = ModeList()
    /// The handlers of the modes in `modes`, each at the same index as its mode.
    @usableFromInline var single: [Handler] = []
    @usableFromInline var common: Handler?

    package init() {}

    /// Stores a handler, unless its mode already has one.
    package mutating func add(_ handler: Handler) {
        if handler.mode == .common {
            if common == nil { common = handler }
        } else if !modes.contains(handler.mode) {
            modes.append(handler.mode)
            single.append(handler)
        }
    }

    /// Removes the handler of a mode, or the handlers of all common modes.
    ///
    /// - Parameters:
    ///   - mode: The mode, or ``RunLoop/Mode/common``.
    ///   - commonModes: The common modes of the loop.
    /// - Returns: The removed handlers.
    package mutating func remove(
        for mode: Mode, whereCommon commonModes: @autoclosure () -> [Mode]
    ) -> [Handler] {
        guard mode == .common else { return remove(for: mode).map { [$0] } ?? [] }
        var removed: [Handler] = []
        if let common { removed.append(common) }
        common = nil
        for mode in commonModes() {
            if let handler = remove(for: mode) { removed.append(handler) }
        }
        return removed
    }

    /// Removes and returns the handlers of all modes.
    package mutating func removeAll() -> [Handler] {
        defer { (modes, single, common) = (ModeList(), [], nil) }
        return single + (common.map { [$0] } ?? [])
    }

    private mutating func remove(for mode: Mode) -> Handler? {
        guard let place = modes.place(of: mode) else { return nil }
        modes.remove(at: place)
        return single.swapRemove(at: place)
    }

    /// Returns the handler to call in a mode: the mode's own handler if it has one, otherwise the common handler.
    @inlinable @inline(__always)
    package func handler(for mode: RunLoop.Mode?) -> Handler? {
        guard let mode, let place = modes.place(of: mode) else { return common }
        return single[place]
    }
}

@available(*, unavailable)
extension ModeHandlers: Sendable {}
