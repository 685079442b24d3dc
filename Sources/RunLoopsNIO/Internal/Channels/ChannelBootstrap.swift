#if NIO
    internal import NIOCore
    internal import RunLoops

    /// Initializes a channel, and returns a result.
    typealias ChannelInitializer<Output> = @Sendable (any Channel) -> EventLoopFuture<Output>

    /// What the bootstraps share.
    protocol ChannelBootstrap {}

    extension ChannelBootstrap {
        /// The initializer of a bootstrap that was given none.
        static var initializesNothing: ChannelInitializer<Void> { { $0.eventLoop.makeSucceededVoidFuture() } }

        func changed(_ change: (inout Self) -> Void) -> Self {
            var copy = self
            change(&copy)
            return copy
        }
    }

    extension RunLoopChannel {
        /// Applies options, and initializes, registers and opens the channel, which closes if any of this fails.
        ///
        /// - Parameters:
        ///   - options: The options, which are applied first.
        ///   - initialize: Initializes the channel.
        ///   - open: Opens the registered channel, with the result of the initializer.
        /// - Returns: What `open` returns; or the error.
        func begun<Initialized: Sendable, Output: Sendable>(
            _ options: ChannelOptions.Storage, _ initialize: @escaping ChannelInitializer<Initialized>,
            _ open: @escaping @Sendable (Initialized) throws -> EventLoopFuture<Output>
        ) -> EventLoopFuture<Output> {
            options.applyAllChannelOptions(to: self).flatMap {
                initialize(self)
            }.flatMap { initialized in
                self.register().flatMap {
                    do { return try open(initialized) } catch { return self.loop.makeFailedFuture(error) }
                }
            }.flatMapErrorThrowing { error in
                self.close0(error: error, mode: .all, promise: nil)
                throw error
            }
        }
    }

    extension RunLoopEventLoopGroup {
        /// The group itself, or a group of one event loop; nil if the event loops are not part of run loops.
        convenience init?(of group: any EventLoopGroup) {
            switch group {
            case let group as RunLoopEventLoopGroup: self.init(group.allLoops)
            case let loop as RunLoopEventLoop: self.init([loop])
            default: return nil
            }
        }

        /// The group itself, or a group of one event loop; ends the program if the event loops are not part of run loops.
        static func required(_ group: any EventLoopGroup, by caller: String) -> RunLoopEventLoopGroup {
            if let group = RunLoopEventLoopGroup(of: group) { return group }
            misuse(
                "\(caller): the group has event loops that are not part of run loops; "
                    + "use a RunLoopEventLoop or a RunLoopEventLoopGroup")
        }
    }
#endif
