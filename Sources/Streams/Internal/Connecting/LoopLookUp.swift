package import RunLoops

/// The look-up of one host name, whose answer a loop passes to a handler.
///
/// The loop holds the look-up until the handler is called, the look-up is cancelled, or the loop ends.
///
/// > Thread safety: the loop's own thread only.
package final class LoopLookUp {
    /// The look-ups of the loop; nil once the loop has ended.
    private weak var all: LoopLookUps?
    private let number: UInt64
    private let port: UInt16
    private let resolver: NameResolver
    private var ticket: NameResolver.Ticket?
    /// The timer that ends the look-up at its deadline; nil if there is no deadline.
    private var timer: Timer?
    /// Nil once it was called, or the look-up was cancelled.
    private var handler: ((NameAnswer) -> Void)?

    fileprivate init(
        _ all: LoopLookUps, _ number: UInt64, _ port: UInt16, _ resolver: NameResolver,
        _ handler: @escaping (NameAnswer) -> Void
    ) {
        self.all = all
        self.number = number
        self.port = port
        self.resolver = resolver
        self.handler = handler
    }

    deinit {
        timer?.invalidate()
        if let ticket { resolver.giveUp(ticket) }
    }

    fileprivate func begin(
        _ host: String, on loop: RunLoop, inModes modes: [RunLoop.Mode], within timeout: Duration?
    ) {
        let number = number
        let handler: NameResolver.Handler = { answer in
            loop.performOwn(inModes: modes) { LoopLookUps.of(loop).finish(number, answer) }
        }
        if let known = NameResolver.answer(host: host, port: port) { return handler(known) }
        if let timeout {
            let made = Timer(timeInterval: timeout, repeats: false) { [unowned self] _ in
                finish(.failure(.timedOut))
            }
            timer = made
            for mode in modes { loop.add(made, forMode: mode) }
        }
        ticket = resolver.ask(host, handler)
    }

    fileprivate func finish(_ answer: NameAnswer) {
        guard let handler = end() else { return }
        handler(answer.map { addresses in addresses.map { $0.with(port: port) } })
    }

    /// Gives up the answer; the handler is not called after that.
    ///
    /// A second call, or one after the answer, does nothing.
    package func cancel() { _ = end() }

    /// Removes the look-up from its loop, and gives up the answer.
    ///
    /// - Returns: The handler; nil if the look-up has ended before.
    private func end() -> ((NameAnswer) -> Void)? {
        guard let handler = handler.take() else { return nil }
        timer?.invalidate()
        timer = nil
        if let ticket = ticket.take() { resolver.giveUp(ticket) }
        all?.remove(number)
        return handler
    }
}

/// The look-ups of one loop that have no answer yet.
///
/// > Thread safety: the loop's own thread only.
private final class LoopLookUps {
    private var lookUps: [UInt64: LoopLookUp] = [:]
    private var lastNumber: UInt64 = 0

    static func of(_ loop: RunLoop) -> LoopLookUps {
        loop.companion(ObjectIdentifier(LoopLookUps.self)) { LoopLookUps() }
    }

    func make(_ port: UInt16, _ resolver: NameResolver, _ handler: @escaping (NameAnswer) -> Void)
        -> LoopLookUp
    {
        lastNumber += 1
        let made = LoopLookUp(self, lastNumber, port, resolver, handler)
        lookUps[lastNumber] = made
        return made
    }

    func finish(_ number: UInt64, _ answer: NameAnswer) { lookUps[number]?.finish(answer) }

    func remove(_ number: UInt64) { lookUps[number] = nil }
}

extension NameResolver {
    /// Resolves a host, and passes the answer to a handler on the thread of a loop.
    ///
    /// - Parameters:
    ///   - host: A name or a numeric address.
    ///   - port: The port of the addresses.
    ///   - loop: The loop of the calling thread.
    ///   - modes: The modes in which the handler may be called.
    ///   - timeout: The time after which the answer is ``NameFailure/timedOut``; nil for no limit. Without a limit, the system's
    ///     resolver gives up after some time, but the name may have to wait for a thread before.
    ///   - handler: Called once by the loop, never in this call, unless the look-up is cancelled or the loop ends before.
    /// - Returns: The look-up, which need not be kept.
    @discardableResult
    package func resolve(
        host: String, port: UInt16, on loop: RunLoop, inModes modes: [RunLoop.Mode],
        within timeout: Duration?,
        _ handler: @escaping (NameAnswer) -> Void
    ) -> LoopLookUp {
        loop.requireOwnThread("NameResolver.resolve", "perform a block on the loop and resolve there")
        let lookUp = LoopLookUps.of(loop).make(port, self, handler)
        lookUp.begin(host, on: loop, inModes: modes, within: timeout)
        return lookUp
    }
}
