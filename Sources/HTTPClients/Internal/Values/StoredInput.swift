internal import DequeModule

/// The account of the bytes of headers and bodies that a client stores for all its transfers together.
///
/// Half of the limit is for headers, and half for bodies, so that long headers do not keep bodies from being received. Of each half, a
/// transfer may use as much as its own limits allow until one half of that half is used. Then it gets a fair share: a header of usual
/// length, or one piece of a body at a time. So a server that makes the client store much hardly disturbs transfers with others.
///
/// > Thread safety: the loop's own thread only.
final class StoredInput {
    /// What one transfer stores, as its client's account has it.
    struct Share {
        let account: StoredInput
        fileprivate(set) var (header, body) = (0, 0)
        /// True while the transfer is in ``StoredInput/waiting``.
        fileprivate var isWaiting = false

        init(_ account: StoredInput) { self.account = account }
    }

    /// The longest header that a transfer may have, and the bytes of a body that it may store, when much is stored.
    ///
    /// libcurl delivers bodies in pieces of at most 16 KiB.
    static let (fairHeader, fairBody) = (8 << 10, 16 << 10)

    /// The limit for headers, and for bodies; nil for none.
    private let half: Int?
    private(set) var (headers, bodies) = (0, 0)

    /// The transfers whose bodies wait, although they have stored nothing themselves, until others have stored less.
    private var waiting = Deque<HTTPTransfer>()

    /// Creates an account without bytes.
    ///
    /// - Parameter limit: The maximum number of bytes; nil for none. Two shares fit into the account, whatever the limit is.
    init(limit: Int?) { half = limit.map { max($0 / 2, StoredInput.fairBody) } }

    /// True if a transfer may store further bytes of its header.
    func takesHeader(_ count: Int, of share: Share) -> Bool {
        isAllowed(count, of: share.header, headers, StoredInput.fairHeader)
    }

    /// True if a transfer may store further bytes of its body.
    func takesBody(_ count: Int, of share: Share) -> Bool {
        isAllowed(count, of: share.body, bodies, StoredInput.fairBody)
    }

    private func isAllowed(_ new: Int, of own: Int, _ all: Int, _ fair: Int) -> Bool {
        guard let half else { return true }
        return all + new <= (own + new <= fair ? half : half / 2)
    }

    /// Changes a share.
    ///
    /// - Returns: True if less is stored of bodies than before.
    func change(_ share: inout Share, header: Int, body: Int) -> Bool {
        headers += header - share.header
        bodies += body - share.body
        defer { (share.header, share.body) = (header, body) }
        return body < share.body
    }

    /// Lets a transfer wait until less is stored, although it has stored nothing of its body itself.
    func wait(_ transfer: HTTPTransfer) {
        if transfer.contents.stored.isWaiting { return }
        transfer.contents.stored.isWaiting = true
        waiting.append(transfer)
    }

    /// Lets waiting transfers continue: all of them, or if much is stored, the first one that can.
    func resumeWaiting() {
        let isAll = half.map { bodies <= $0 / 2 } ?? true
        for _ in 0..<waiting.count {
            guard let transfer = waiting.popFirst() else { return }
            transfer.contents.stored.isWaiting = false
            guard let set = transfer.contents.transferSet, set.isReadyForBytes(transfer) else { continue }
            set.takeTurn(transfer)
            if !isAll { return }
        }
    }
}

extension HTTPTransfer {
    /// Brings the client's account up to what the transfer stores now.
    ///
    /// When the set has removed the transfer, its header is the user's.
    func recount() {
        let header = contents.transferSet == nil ? 0 : contents.header.byteCount
        let account = contents.stored.account
        let isLess = account.change(
            &contents.stored, header: header, body: contents.body.storedByteCount)
        if isLess { account.resumeWaiting() }
    }
}
