/// The loop and the modes that an input is in.
struct Membership {
    /// The ``LoopMembers`` of the loop that holds the input; nil while the input is in no loop.
    var loop: LoopMembers?

    private var list = ModeList()

    /// True if the input was added to the common modes, and so joins the modes that become common later.
    var followsCommon = false

    /// The position of the input in the loop's list of inputs.
    var position = 0

    /// The modes that the input is in, in no particular order, in a new array.
    var modes: [Mode] { list.modes }

    /// The number of modes that the input is in.
    var modeCount: Int { @inline(__always) get { list.count } }

    /// The mode at a place below ``modeCount``, in no particular order.
    @inline(__always)
    func mode(at place: Int) -> Mode { list[place] }

    @inline(__always)
    func contains(_ mode: Mode) -> Bool { list.contains(mode) }

    /// Records that the input has joined a mode.
    ///
    /// - Returns: False if the input is in the mode already.
    mutating func join(_ mode: Mode) -> Bool {
        if list.contains(mode) { return false }
        list.append(mode)
        return true
    }

    /// Records that the input has left a mode.
    ///
    /// - Returns: False if the input is not in the mode.
    mutating func leave(_ mode: Mode) -> Bool {
        guard let place = list.place(of: mode) else { return false }
        list.remove(at: place)
        return true
    }
}

/// An object that a loop serves in the modes that the object was added to.
///
/// > Thread safety: the loop's own thread only.
protocol LoopInput: AnyObject {
    var membership: Membership { get set }

    /// True if the input is in a mode.
    ///
    /// This is a requirement of the protocol, so that a call on an `any LoopInput` neither copies the membership nor changes its
    /// reference counts.
    func isIn(_ mode: Mode) -> Bool

    /// True if a mode stays alive while this input is in it; false for observers, which cannot become ready.
    var keepsModeAlive: Bool { get }

    /// What a loop that has never run has not served; empty for an input that represents another one.
    var unservedParts: [Unserved] { get }

    /// Called when the input has left its last mode, or its loop's thread is ending.
    func didLeave(_ loop: LoopMembers)
}

extension LoopInput {
    func isIn(_ mode: Mode) -> Bool { membership.contains(mode) }

    var unservedParts: [Unserved] { [] }
}
