internal import DequeModule

/// The transfers that wait for their turn to begin or to continue.
///
/// One call of libcurl works on all transfers that have begun or were resumed before it, and the loop cannot interrupt the call. So
/// only some have a turn in one pass.
extension TransferSet {
    /// The work that transfers may cause in one pass.
    static let workOfPass = 32
    /// The work of receiving up to ``HTTPTransfer/inboxLimit`` bytes of a body; beginning a transfer counts as 1.
    private static let workOfBytes = 4

    /// Begins a transfer, or continues one that libcurl holds back: now, or when its turn comes.
    func takeTurn(_ transfer: HTTPTransfer) {
        if contents.turns.isEmpty && contents.workLeft > 0 { return useTurn(transfer) }
        if transfer.contents.awaitsTurn { return }
        transfer.contents.awaitsTurn = true
        contents.turns.append(transfer)
        updateDeadline()
    }

    /// Gives the next transfers their turn, once in a pass.
    func giveTurns() {
        contents.workLeft = TransferSet.workOfPass
        while contents.workLeft > 0, let transfer = contents.turns.popFirst() {
            transfer.contents.awaitsTurn = false
            useTurn(transfer)
        }
    }

    /// Begins or continues a transfer, unless it has ended or been paused meanwhile.
    private func useTurn(_ transfer: HTTPTransfer) {
        if transfer.contents.transferSet !== self || transfer.contents.state.hasEnded || !isValid { return }
        if unsafe transfer.contents.handle == nil {
            contents.workLeft -= 1
            do throws(HTTPClientError) { try begin(transfer) } catch {
                finish(transfer, error)
                enqueue(transfer)
            }
        } else if isReadyForBytes(transfer) {
            contents.workLeft -= TransferSet.workOfBytes
            resume(transfer)
        }
    }

    /// True if libcurl holds bytes of a transfer back, and there is room for them.
    func isReadyForBytes(_ transfer: HTTPTransfer) -> Bool {
        transfer.contents.isHeld && !transfer.contents.state.isPaused && transfer.contents.inbox.isEmpty
    }
}
