extension TransferSet {
    /// Begins the request that follows a redirect.
    func follow(_ transfer: HTTPTransfer) throws(HTTPClientError) {
        releaseHandle(transfer)
        if transfer.contents.hop.count >= options.redirectLimit {
            throw .tooManyRedirects(limit: options.redirectLimit)
        }
        try transfer.contents.hop.follow(transfer.contents.header.status)
        transfer.contents.header = HeaderBlock(limit: options.headerLimit)
        transfer.contents.idle = IdleWatch()
        transfer.recount()
        if !transfer.contents.hop.hasBody {
            transfer.contents.upload = nil
        } else if transfer.contents.upload?.rewind() == false {
            throw .bodyNotRepeatable
        }
        takeTurn(transfer)
    }
}
