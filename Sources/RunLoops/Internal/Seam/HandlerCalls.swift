/// A value with which other modules call the program's handlers on behalf of one loop.
///
/// > Thread safety: the loop's own thread only.
package struct HandlerCalls {
    private let handlers: HandlerCaller

    init(_ handlers: HandlerCaller) { self.handlers = handlers }

    /// Calls a handler of the program.
    ///
    /// If the program has asked for it, the call is timed, watched or recorded.
    ///
    /// - Parameters:
    ///   - origin: The source location at which the program passed in the handler.
    ///   - handler: A closure that calls the handler of the program.
    package func call(_ origin: SourceLocation, _ handler: () -> Void) { handlers.call(origin, handler) }
}
