/// The blocks that one loop runs once, at the end of a pass.
///
/// The object is in the loop's ``DeferredWorkList`` only while it has blocks, so that passes without such blocks have no cost.
///
/// > Thread safety: the loop's own thread only.
final class PassEndBlocks: DeferredWork {
    private var blocks: [() -> Void] = []
    /// The list that contains this object; nil while there are no blocks.
    private var list: DeferredWorkList?

    func add(_ block: @escaping () -> Void, to list: DeferredWorkList) {
        blocks.append(block)
        if self.list != nil { return }
        self.list = list
        list.append(atPassEnd: self)
    }

    func holdsWork(for mode: Mode, isCommon: Bool) -> Bool { !blocks.isEmpty }

    func performWork(for mode: Mode, isCommon: Bool) {
        // The blocks are taken out first, because a block can run the loop, which must not run these blocks again.
        var running: [() -> Void] = []
        swap(&running, &blocks)
        for block in running { block() }
        guard blocks.isEmpty else { return }
        list?.remove(self)
        list = nil
    }

    func discardWork() {
        let released = blocks
        blocks = []
        list = nil
        withExtendedLifetime(released) {}
    }
}
