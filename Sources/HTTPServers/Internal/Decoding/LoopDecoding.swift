#if HTTPServers
    internal import NIOCore
    internal import NIOHTTP1
    internal import RunLoops

    /// The place in a pipeline in which the decoders of a loop's connections work.
    ///
    /// A decoder of NIOHTTP1 passes on what it has decoded through the context of a handler. The decoders of a loop take turns with one
    /// context, whose pipeline has one more handler: it collects the parts. The channel of the pipeline carries no bytes.
    /// An `EmbeddedChannel` would be another choice, but may only be destroyed on the thread that has made it.
    ///
    /// > Thread safety: the loop's own thread only.
    final class LoopDecoding {
        private let channel = DecodingChannel()
        private let parts: Parts
        /// The context in which the decoders work.
        let context: ChannelHandlerContext

        private init() {
            let (place, parts) = (Place(), Parts())
            self.parts = parts
            do {
                let pipeline = channel.pipeline.syncOperations
                try pipeline.addHandlers([place, parts])
                context = try pipeline.context(handler: place)
            } catch {
                preconditionFailure("a new pipeline takes handlers: \(error)")
            }
        }

        deinit { channel.end() }

        /// Returns the place of a loop, which must be the loop of the calling thread.
        static func of(_ loop: RunLoop) -> LoopDecoding {
            loop.companion(ObjectIdentifier(LoopDecoding.self)) { LoopDecoding() }
        }

        /// Calls a function, and returns what decoders have decoded meanwhile.
        func parts(of decode: () throws -> Void) rethrows -> [HTTPServerRequestPart] {
            defer { parts.list = [] }
            try decode()
            return parts.list
        }

        private final class Place: ChannelInboundHandler {
            typealias InboundIn = Never
        }

        private final class Parts: ChannelInboundHandler {
            typealias InboundIn = HTTPServerRequestPart
            var list: [HTTPServerRequestPart] = []

            func channelRead(context: ChannelHandlerContext, data: NIOAny) {
                list.append(unwrapInboundIn(data))
            }

            /// The decoder also throws the error.
            func errorCaught(context: ChannelHandlerContext, error: any Error) {}
        }
    }
#endif
