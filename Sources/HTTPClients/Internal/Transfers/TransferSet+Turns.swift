internal import DequeModule

/// The transfers that wait for their turn to begin or to continue.
///
/// When the loop calls libcurl, libcurl works on every transfer that has begun or was resumed, and the loop cannot interrupt that
/// call. So only some of the transfers get their turn in each pass of the loop.
extension TransferSet {
    /// The work after which no further transfer gets its turn in the same pass.
    static let workOfPass = 32
    /// The work that is counted for continuing a transfer, which then receives up to ``HTTPTransfer/inboxLimit`` bytes of its body.
    ///
    /// The work of beginning a transfer is 1.
    private static let workOfBytes = 4

    /// Begins a transfer, or continues a transfer that libcurl holds back.
    ///
    /// If other transfers wait, or no work is left for this pass, the transfer waits for its turn.
    func takeTurn(_ transfer: HTTPTransfer) {
        if contents.turns.isEmpty && contents.workLeft > 0 { return useTurn(transfer) }
        if transfer.contents.awaitsTurn { return }
        transfer.contents.awaitsTurn = true
        contents.turns.append(transfer)
        updateDeadline()
    }

    /// Gives the next waiting transfers their turn; called once in each pass.
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

    /// True if libcurl is holding back bytes of a transfer, and the transfer now has room for these bytes.
    func isReadyForBytes(_ transfer: HTTPTransfer) -> Bool {
        transfer.contents.isHeld && !transfer.contents.state.isPaused && transfer.contents.inbox.isEmpty
    }
}
