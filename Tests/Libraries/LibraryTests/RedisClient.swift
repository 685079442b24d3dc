import CHiredis
import Glibc
import RunLoops

/// A connection of hiredis in one mode of the current loop, which reconnects if it is lost.
///
/// The source holds the client until the source is invalidated.
final class RedisClient {
    /// Called with the parts of an answer as text, or with nil if the connection was lost.
    typealias Answer = ([String]?) -> Void

    private(set) var source: LibrarySource?
    private var context: UnsafeMutablePointer<redisAsyncContext>?
    private var interest: DescriptorSource.Interest = []
    private var events: [() -> Void] = []
    private var retry: Timer?
    private let mode: RunLoop.Mode
    private let path: String
    private(set) var connections = 0
    /// Called outside of hiredis.
    var onConnect: () -> Void = {}

    init(path: String, forMode mode: RunLoop.Mode) throws {
        self.mode = mode
        self.path = path
        let source = try LibrarySource(onInvalidation: { self.end() }) { _ in self.serve() }
        try RunLoop.current.add(source, forMode: mode)
        self.source = source
        connect()
    }

    private func connect() {
        guard source != nil else { return }
        guard let context = redisAsyncConnectUnix(path) else { return tryAgain() }
        if context.pointee.err != 0 {
            redisAsyncFree(context)
            return tryAgain()
        }
        self.context = context
        let me = Unmanaged.passUnretained(self).toOpaque()
        context.pointee.data = me
        context.pointee.ev.data = me
        context.pointee.ev.addRead = { client($0).change { $0.insert(.read) } }
        context.pointee.ev.delRead = { client($0).change { $0.remove(.read) } }
        context.pointee.ev.addWrite = { client($0).change { $0.insert(.write) } }
        context.pointee.ev.delWrite = { client($0).change { $0.remove(.write) } }
        // hiredis is about to close the descriptor.
        context.pointee.ev.cleanup = { client($0).letGo() }
        redisAsyncSetConnectCallback(context) { context, status in
            let me = client(context?.pointee.data)
            me.events.append { if status == REDIS_OK { me.connected() } else { me.tryAgain() } }
        }
        redisAsyncSetDisconnectCallback(context) { context, _ in
            let me = client(context?.pointee.data)
            me.events.append { me.tryAgain() }
        }
    }

    private func connected() {
        connections += 1
        onConnect()
    }

    private func change(_ body: (inout DescriptorSource.Interest) -> Void) {
        guard let context else { return }
        body(&interest)
        source?.setInterest(interest, of: context.pointee.c.fd)
    }

    private func letGo() {
        change { $0 = [] }
        context = nil
    }

    private func tryAgain() {
        guard source != nil, retry == nil else { return }
        let timer = Timer(timeInterval: .milliseconds(5), repeats: false) { [unowned self] _ in
            // The timer stays valid until its handler has returned.
            retry = nil
            connect()
        }
        retry = timer
        RunLoop.current.add(timer, forMode: mode)
    }

    func send(_ words: [String], _ answer: @escaping Answer) {
        guard let context else { return answer(nil) }
        let isSubscription = words[0].lowercased().hasSuffix("subscribe")
        let request = Unmanaged.passRetained(Request(self, answer, isSubscription)).toOpaque()
        let copies = words.map { strdup($0) }
        defer { for copy in copies { free(copy) } }
        var arguments = copies.map { UnsafePointer<CChar>($0) }
        let lengths = words.map { $0.utf8.count }
        redisAsyncCommandArgv(
            context,
            { _, reply, data in
                let request = Unmanaged<Request>.fromOpaque(data!)
                let parts = reply.map { texts($0.assumingMemoryBound(to: redisReply.self)) }
                let value = request.takeUnretainedValue()
                value.client.events.append { value.answer(parts) }
                // hiredis calls the callback of a subscription for each message, and a last time without a reply.
                if !value.isSubscription || reply == nil { request.release() }
            }, request, CInt(words.count), &arguments, lengths)
    }

    func close() { source?.invalidate() }

    private func serve() {
        guard let source else { return }
        while let report = source.nextReport() {
            // Each call can free the context.
            if let context, !report.readiness.isDisjoint(with: [.readable, .hangUp, .error]) {
                redisAsyncHandleRead(context)
            }
            if let context, report.readiness.contains(.writable) { redisAsyncHandleWrite(context) }
        }
        deliver()
    }

    private func deliver() { while !events.isEmpty { events.removeFirst()() } }

    private func end() {
        source = nil
        retry?.invalidate()
        if let context { redisAsyncFree(context) }
        context = nil
        deliver()
    }

    private final class Request {
        let client: RedisClient
        let answer: Answer
        let isSubscription: Bool

        init(_ client: RedisClient, _ answer: @escaping Answer, _ isSubscription: Bool) {
            self.client = client
            self.answer = answer
            self.isSubscription = isSubscription
        }
    }
}

/// Returns the client that hiredis has as its context.
private func client(_ context: UnsafeMutableRawPointer?) -> RedisClient {
    Unmanaged<RedisClient>.fromOpaque(context!).takeUnretainedValue()
}

/// The text of a reply, or the texts of its elements.
private func texts(_ reply: UnsafeMutablePointer<redisReply>) -> [String] {
    if reply.pointee.elements > 0 {
        return (0..<reply.pointee.elements).flatMap { texts(reply.pointee.element[$0]!) }
    }
    if reply.pointee.type == REDIS_REPLY_INTEGER { return ["\(reply.pointee.integer)"] }
    return [reply.pointee.str.map { String(cString: $0) } ?? ""]
}
