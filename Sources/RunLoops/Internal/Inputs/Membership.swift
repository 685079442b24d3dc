/// The place of an input in its loop, and the modes that it is in.
struct Membership {
    /// The inputs of the loop, while this one is in one of its modes.
    var loop: LoopMembers?

    private var list = ModeList()

    /// True if the input was added to the common modes, and so joins the modes that become common later.
    var followsCommon = false

    /// The position of the input in the loop's list.
    var position = 0

    /// The modes that the input is in, in no order.
    var modes: [RunLoop.Mode] { list.modes }

    @inline(__always)
    func contains(_ mode: RunLoop.Mode) -> Bool { list.contains(mode) }

    /// Notes that the input has joined a mode.
    ///
    /// - Returns: False if it is there already.
    mutating func join(_ mode: RunLoop.Mode) -> Bool {
        if list.contains(mode) { return false }
        list.append(mode)
        return true
    }

    /// Notes that the input has left a mode.
    ///
    /// - Returns: False if it is not there.
    mutating func leave(_ mode: RunLoop.Mode) -> Bool {
        guard let place = list.place(of: mode) else { return false }
        list.remove(at: place)
        return true
    }
}

/// Something that a loop serves in the modes it was added to.
///
/// > Thread safety: the loop's own thread only.
protocol LoopInput: AnyObject {
    var membership: Membership { get set }

    /// True if it is in a mode.
    ///
    /// Asked for here, so that asking an input of any type copies no membership, which would count its references.
    func isIn(_ mode: RunLoop.Mode) -> Bool

    /// True if a mode that holds this can become ready; false for observers.
    var keepsModeAlive: Bool { get }

    /// The input has left its last mode, or its loop's thread ends.
    func didLeave(_ loop: LoopMembers)
}

extension LoopInput {
    func isIn(_ mode: RunLoop.Mode) -> Bool { membership.contains(mode) }
}
