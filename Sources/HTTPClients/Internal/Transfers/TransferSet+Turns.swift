internal import DequeModule

/// The transfers that wait for their turn to begin or to continue.
///
/// When the loop calls libcurl, libcurl works on every transfer that has begun or was resumed, and the loop cannot interrupt that
/// call. So only some of the transfers get their turn in each pass of the loop.
extension TransferSet {
    /// The number of units of work for transfers in one pass of the loop.
    ///
    /// When these units are used up, the other transfers wait for the next pass.
    static let workOfPass = 32
    /// The work of continuing a transfer, in units; the work of beginning a transfer is 1 unit.
    ///
    /// A transfer that is continued receives up to ``AnswerBody/limit`` bytes of its body.
    private static let workOfBytes = 4

    /// Begins a transfer, or continues a transfer whose bytes libcurl holds back.
    ///
    /// If other transfers wait, or the units of work of this pass are used up, the transfer waits for its turn.
    func takeTurn(_ transfer: HTTPTransfer) {
        if contents.turns.isEmpty && contents.workLeft > 0 { return useTurn(transfer) }
        if transfer.contents.places.awaitsTurn { return }
        transfer.contents.places.awaitsTurn = true
        contents.turns.append(transfer)
        updateDeadline()
    }

    /// Gives waiting transfers their turn, until none waits or the units of work of this pass are used up.
    ///
    /// This is called once in each pass of the loop.
    func giveTurns() {
        contents.workLeft = TransferSet.workOfPass
        while contents.workLeft > 0, !contents.turns.isEmpty, spend(),
            let transfer = contents.turns.popFirst()
        {
            transfer.contents.places.awaitsTurn = false
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
        transfer.contents.body.isHeld && !transfer.contents.state.isPaused && !transfer.contents.body.hasBytes
    }
}
