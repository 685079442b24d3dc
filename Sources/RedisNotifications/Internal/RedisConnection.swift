internal import CLibHiredis
internal import DequeModule
internal import DistributedNotifications
internal import Glibc
internal import RunLoops

/// A connection to a Redis or Valkey server, which replies to commands in their order.
///
/// The connection uses hiredis to connect and to write. It reads replies with a ``RedisReader``, because the reader of hiredis makes
/// a whole reply in one call, and makes room for as many elements as the server announces.
///
/// Whatever the server sends, the connection works in small steps, for which it spends the budget that it shares with the loop's
/// other inputs. It receives no more bytes before it has handled those that have arrived.
///
/// `@safe`: the context belongs to this object from `init` to ``close()``, and is used on one thread.
///
/// > Thread safety: the thread of the loop.
@safe
final class RedisConnection {
    /// A handler for the reply to a command; the handler is allowed to close the connection.
    ///
    /// If handling the reply can take long, the handler leaves the rest to ``handle(_:)``.
    typealias Answer = (RedisValue) -> Void

    /// A small step of handling a reply; it returns false if it was the last one.
    typealias Work = () -> Bool

    private struct Sent {
        let size: Int
        let answer: Answer
    }

    /// The maximum number of bytes that are received before they are handled.
    private static let mostReceived = 65_536

    private var source: LibrarySource?
    private var context: UnsafeMutablePointer<redisContext>?
    private var waiting: Deque<Sent> = []
    /// The size, in bytes, of the commands that the server has not answered yet.
    private(set) var pendingBytes = 0
    private var reader = RedisReader()
    /// The rest of the handling of the reply that was read last; nil if it is handled.
    private var work: Work?
    /// True if bytes have arrived that were not handled yet.
    private var hasBacklog = false
    /// Called for each message of a subscription, that is, for each reply that no command waits for.
    var onMessage: Answer?
    /// Called once with the reason when the connection ends, unless ``close()`` has ended it.
    private var onEnd: ((DistributedNotificationError) -> Void)?
    /// Called before each write to the socket, so that the owner can add commands to the write.
    var beforeWriting: () -> Void = {}
    /// Called after the received replies were handled, in each pass in which the socket is ready.
    var afterReplies: () -> Void = {}

    /// Begins to connect.
    ///
    /// - Parameters:
    ///   - address: The path of a socket, or the numeric address of a host and a port.
    ///   - onEnd: Called once with the reason when the connection ends, unless ``close()`` has ended it.
    /// - Throws: The reason that the connection cannot begin.
    init(
        _ address: RedisAddress, onEnd: @escaping (DistributedNotificationError) -> Void
    ) throws(DistributedNotificationError) {
        self.onEnd = onEnd
        // Safe: the library copies the strings.
        let made: UnsafeMutablePointer<redisContext>? =
            switch address {
            case .unix(let path): unsafe redisConnectUnixNonBlock(path)
            case .tcp(let host, let port): unsafe redisConnectNonBlock(host, CInt(port))
            }
        guard let context = unsafe made else { throw .system(SystemError(call: "malloc", code: ENOMEM)) }
        if unsafe context.pointee.err != 0 {
            defer { unsafe redisFree(context) }
            throw .engine(unsafe RedisConnection.reason(context))
        }
        let descriptor = unsafe context.pointee.fd
        // The library does not set this flag, so programs that this process starts would inherit the socket.
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        if case .tcp = address {
            // Keep-alive packets detect that the server's machine no longer answers, even if nothing is sent.
            _ = unsafe redisEnableKeepAlive(context)
        }
        unsafe self.context = context
        do {
            let source = try LibrarySource { [weak self] source in self?.serve(source) }
            source.setInterest(.read, of: descriptor)
            self.source = source
            try RunLoop.current.add(source, forMode: .common)
        } catch {
            close()
            throw .system(error)
        }
    }

    deinit { close() }

    /// Closes the connection.
    ///
    /// No handler of a reply is called afterwards.
    func close() {
        guard let context = unsafe context.take() else { return }
        source?.setInterest([], of: unsafe context.pointee.fd)
        source?.invalidate()
        source = nil
        // The connection ends even if a forked child has a copy of the socket.
        shutdown(unsafe context.pointee.fd, CInt(SHUT_RDWR))
        unsafe redisFree(context)
        waiting.removeAll()
        pendingBytes = 0
        hasBacklog = false
        // The closures are released last, because they can hold objects that call back.
        let released = (work, onEnd, onMessage)
        (work, onEnd, onMessage) = (nil, nil, nil)
        withExtendedLifetime(released) {}
    }

    // MARK: - Sending

    /// Sends a command in the next pass of the loop.
    ///
    /// - Parameters:
    ///   - words: The words of the command.
    ///   - answer: Called with the reply, unless the connection ends first.
    func send(_ words: RedisWords, _ answer: @escaping Answer = { _ in }) {
        guard let context = unsafe context else { return }
        let bytes = words.command
        // Safe: the library copies the bytes.
        let result = unsafe bytes.withUnsafeBytes { bytes in
            unsafe redisAppendFormattedCommand(
                context, bytes.baseAddress?.assumingMemoryBound(to: CChar.self), bytes.count)
        }
        waiting.append(Sent(size: bytes.count, answer: answer))
        pendingBytes += bytes.count
        // If the library has no memory, the connection ends when its source reports the next readiness, not in this call.
        if unsafe result == REDIS_OK || context.pointee.err != 0 { requestWrite() }
    }

    /// Requests a write to the socket, which happens in the next pass in which the socket has room.
    ///
    /// ``beforeWriting`` is called just before the write.
    func requestWrite() {
        guard let context = unsafe context else { return }
        source?.setInterest([.read, .write], of: unsafe context.pointee.fd)
    }

    /// Writes as many bytes of the waiting commands as the socket has room for.
    func flush() {
        guard let context = unsafe context else { return }
        var isDone: CInt = 0
        _ = unsafe redisBufferWrite(context, &isDone)
    }

    // MARK: - Serving

    /// Leaves the handling of a reply to steps, which the connection makes in this pass and in later ones.
    ///
    /// To be called by the handler of the reply. Until the last step is made, the connection handles no other reply.
    func handle(_ work: @escaping Work) { self.work = work }

    private func serve(_ source: LibrarySource) {
        while let report = source.nextReport() {
            guard let context = unsafe context else { return }
            if report.readiness.contains(.writable) {
                beforeWriting()
                var isDone: CInt = 0
                // Safe: the library writes its own bytes to its own socket. The thread blocks SIGPIPE, which the write can raise.
                if unsafe redisBufferWrite(context, &isDone) != REDIS_OK {
                    return fail(unsafe RedisConnection.reason(context))
                }
                if isDone != 0 { source.setInterest(.read, of: report.descriptor) }
            }
            if !report.readiness.isDisjoint(with: [.readable, .hangUp, .error]) && !hasBacklog { receive() }
        }
        if hasBacklog { handleReplies(source) }
        if unsafe context != nil { afterReplies() }
    }

    /// Receives bytes once; if there are more, the kernel reports the socket again.
    private func receive() {
        guard let context = unsafe context else { return }
        // Safe: the kernel writes at most `capacity` bytes into the buffer, which the reader copies.
        let failure: CInt? = unsafe withUnsafeTemporaryAllocation(
            byteCount: RedisConnection.mostReceived, alignment: 1
        ) { buffer in
            let count = unsafe recv(context.pointee.fd, buffer.baseAddress, buffer.count, 0)
            if count < 0 { return errno }
            if count == 0 { return 0 }
            unsafe reader.append(UnsafeRawBufferPointer(rebasing: buffer[..<count]))
            hasBacklog = true
            return nil
        }
        switch failure {
        case nil, EAGAIN, EINTR: break
        case 0: fail("the server has closed the connection")
        case let code?: fail("\(SystemError(call: "recv", code: code))")
        }
    }

    /// Handles what has arrived, in steps that the loop's other inputs share with this one.
    ///
    /// If the budget is spent, the loop serves its other inputs before the next steps.
    private func handleReplies(_ source: LibrarySource) {
        while unsafe context != nil, hasBacklog {
            if !source.spend() { return }
            if let step = work {
                if !step() { work = nil }
                continue
            }
            do throws(RedisReader.Violation) {
                switch try reader.step() {
                case .reply(let reply): take(reply.value)
                case .more: break
                case .needsBytes: hasBacklog = false
                }
            } catch { fail(error.reason, isViolation: true) }
        }
    }

    private func take(_ reply: RedisValue) {
        if let sent = waiting.popFirst() {
            pendingBytes -= sent.size
            sent.answer(reply)
        } else if let onMessage {
            onMessage(reply)
        } else if let text = reply.error {
            // The server has too many clients, or is about to close the connection for another reason.
            fail("the server refuses the connection: \(text)")
        } else {
            fail("the server sends a reply that was not asked for", isViolation: true)
        }
    }

    private func fail(_ reason: String, isViolation: Bool = false) {
        guard let onEnd = onEnd.take() else { return close() }
        close()
        onEnd(isViolation ? .protocolViolation(reason) : .engine(reason))
    }

    private static func reason(_ context: UnsafeMutablePointer<redisContext>) -> String {
        // Safe: the library keeps a C string in its array.
        unsafe withUnsafeBytes(of: &context.pointee.errstr) { bytes in
            let text = unsafe bytes.prefix { $0 != 0 }
            return unsafe String(decoding: text, as: UTF8.self)
        }
    }
}
