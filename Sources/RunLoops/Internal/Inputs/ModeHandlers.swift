/// What is called in a mode, or in all common ones.
protocol ModeHandler {
    /// The mode that it was given for; ``RunLoop/Mode/common`` for the common ones.
    var mode: RunLoop.Mode { get }
}

/// The handlers of an input that may have another one in each mode.
///
/// A value, for one thread. What goes is given to the caller, who lets go of it when all is in order: what a handler holds may
/// be the user's, and may come back to the input while it is destroyed.
struct ModeHandlers<Handler: ModeHandler> {
    /// Those of single modes.
    private var single: [Handler] = []
    private var common: Handler?

    /// Keeps a handler, unless its mode has one.
    mutating func add(_ handler: Handler) {
        if handler.mode == .common {
            if common == nil { common = handler }
        } else if !single.contains(where: { $0.mode == handler.mode }) {
            single.append(handler)
        }
    }

    /// Takes out the handler of a mode, or all of those that are common.
    ///
    /// - Returns: What has gone, and perhaps others.
    mutating func remove(for mode: RunLoop.Mode, in modes: ModeTable) -> [Handler] {
        let before = single
        guard mode == .common else {
            single = before.filter { $0.mode != mode }
            return before
        }
        defer { common = nil }
        single = before.filter { !modes.isCommon($0.mode) }
        return before + [common].compactMap { $0 }
    }

    /// What is called in a mode: its own handler before the common one.
    func handler(for mode: RunLoop.Mode) -> Handler? {
        for handler in single where handler.mode == mode { return handler }
        return common
    }
}
