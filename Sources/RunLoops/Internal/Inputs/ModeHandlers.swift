/// A handler that is called in one mode, or in all common ones.
package protocol ModeHandler {
    /// The mode that it was given for; ``RunLoop/Mode/common`` for the common ones.
    var mode: RunLoop.Mode { get }
}

/// The handlers of an input that may have another one in each mode.
///
/// A value, for one thread. A removed handler is given to the caller, which releases it when all is in order: the objects that
/// a handler holds may be the user's, and may come back to the input while they are destroyed.
///
/// Not copyable: a copy for each message would retain the lists.
package struct ModeHandlers<Handler: ModeHandler>: ~Copyable {
    /// The modes that have a handler of their own.
    private var modes = ModeList()
    /// These handlers, each at its mode's place.
    private var single: [Handler] = []
    private var common: Handler?

    package init() {}

    /// Keeps a handler, unless its mode has one.
    package mutating func add(_ handler: Handler) {
        if handler.mode == .common {
            if common == nil { common = handler }
        } else if !modes.contains(handler.mode) {
            modes.append(handler.mode)
            single.append(handler)
        }
    }

    /// Removes the handler of a mode, or those of all modes that are common.
    ///
    /// - Parameters:
    ///   - mode: The mode, or ``RunLoop/Mode/common``.
    ///   - commonModes: The modes of the loop that are common.
    /// - Returns: The removed handlers.
    package mutating func remove(
        for mode: RunLoop.Mode, whereCommon commonModes: @autoclosure () -> [RunLoop.Mode]
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

    private mutating func remove(for mode: RunLoop.Mode) -> Handler? {
        guard let place = modes.place(of: mode) else { return nil }
        modes.remove(at: place)
        return single.swapRemove(at: place)
    }

    /// The handler that is called in a mode: its own before the common one.
    @inline(__always)
    package func handler(for mode: RunLoop.Mode) -> Handler? {
        modes.place(of: mode).map { single[$0] } ?? common
    }
}
