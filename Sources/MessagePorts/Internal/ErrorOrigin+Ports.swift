internal import RunLoops

extension ErrorOrigin {
    static func messagePort(_ name: PortName, _ place: SourceLocation) -> ErrorOrigin {
        .named("message port", "\(name)", place)
    }

    static func remotePort(_ name: PortName, _ place: SourceLocation) -> ErrorOrigin {
        .named("remote port", "\(name)", place)
    }

    static func requester(_ process: PeerCredentials) -> ErrorOrigin { .unnamed("request of", process) }

    static func receiver(_ process: PeerCredentials) -> ErrorOrigin { .unnamed("message to", process) }
}
