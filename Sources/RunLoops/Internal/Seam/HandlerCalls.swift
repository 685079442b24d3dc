/// Calls users' handlers on behalf of one loop.
///
/// > Thread safety: the loop's own thread only.
package struct HandlerCalls {
    private let handlers: HandlerCaller

    init(_ handlers: HandlerCaller) { self.handlers = handlers }

    /// Calls a user's handler, and times, watches or records the call if the program has asked for it.
    ///
    /// - Parameters:
    ///   - origin: The place in the user's code where the handler was passed in.
    ///   - handler: Makes the call.
    package func call(_ origin: SourceLocation, _ handler: () -> Void) { handlers.call(origin, handler) }
}
