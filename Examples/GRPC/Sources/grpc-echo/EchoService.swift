import GRPCCore
import RunLoops

/// Counts on the thread of a run loop, as a library would that must stay there.
actor Counter: RunLoopActor {
    nonisolated let runLoop: RunLoop
    private var count = 0

    init(on runLoop: RunLoop) { self.runLoop = runLoop }

    func next() -> Int {
        count += 1
        return count
    }
}

/// A service with one method, which answers with the text of the request and a number.
struct EchoService: RegistrableRPCService {
    static let method = MethodDescriptor(fullyQualifiedService: "echo.Echo", method: "Get", type: .unary)
    let counter: Counter

    func registerMethods<Transport: ServerTransport>(with router: inout RPCRouter<Transport>) {
        router.registerHandler(
            forMethod: EchoService.method, deserializer: TextCoder(), serializer: TextCoder()
        ) { [counter] request, _ in
            let text = try await ServerRequest(stream: request).message
            return StreamingServerResponse(
                single: ServerResponse(message: "\(text) \(await counter.next())"))
        }
    }
}

/// Messages that are plain text, so that the example needs no generated code.
struct TextCoder: MessageSerializer, MessageDeserializer {
    func serialize<Bytes: GRPCContiguousBytes>(_ text: String) -> Bytes { Bytes(text.utf8) }

    func deserialize<Bytes: GRPCContiguousBytes>(_ bytes: Bytes) -> String {
        bytes.withUnsafeBytes { String(decoding: $0, as: UTF8.self) }
    }
}
