extension RunLoop {
    /// Ends the program unless the calling thread is the loop's.
    ///
    /// - Parameters:
    ///   - member: The member that was called, for the message.
    ///   - instead: The caller's alternative, for the message.
    package func requireOwnThread(_ member: StaticString, _ instead: StaticString) {
        _ = core(member, instead)
    }

    /// True once the loop has ended, as the loop's own thread sees it; false on every other thread.
    package var hasEnded: Bool { coreIfCurrent?.hasEnded ?? false }
}
