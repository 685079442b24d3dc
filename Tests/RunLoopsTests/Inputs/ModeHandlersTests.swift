import Testing

@testable import RunLoops

/// The handlers of a port or source in its modes.
@Suite struct ModeHandlersTests {
    private struct Handler: ModeHandler {
        let mode: RunLoop.Mode
        let name: String
    }

    private let other = RunLoop.Mode("other")
    private let third = RunLoop.Mode("third")

    private func handlers(_ added: (RunLoop.Mode, String)...) -> ModeHandlers<Handler> {
        var handlers = ModeHandlers<Handler>()
        for (mode, name) in added { handlers.add(Handler(mode: mode, name: name)) }
        return handlers
    }

    @Test func `a mode has the first handler that it was given, or else that of the common modes`() {
        let handlers = handlers(
            (.default, "a"), (.default, "b"), (.common, "c"), (.common, "d"), (other, "e"))
        #expect(handlers.handler(for: .default)?.name == "a")
        #expect(handlers.handler(for: other)?.name == "e")
        #expect(handlers.handler(for: third)?.name == "c")
        #expect(self.handlers((.default, "a")).handler(for: other) == nil)
    }

    @Test func `what is taken out is given to the caller, and its mode may have another one`() {
        var handlers = handlers((.default, "a"), (other, "b"), (.common, "c"))
        let gone = handlers.remove(for: .default, whereCommon: [])
        #expect(gone.contains { $0.name == "a" })
        #expect(handlers.handler(for: .default)?.name == "c")
        #expect(handlers.handler(for: other)?.name == "b")
        handlers.add(Handler(mode: .default, name: "d"))
        #expect(handlers.handler(for: .default)?.name == "d")
    }

    @Test func `the common modes take along the handlers of each of them`() {
        var handlers = handlers((.default, "a"), (other, "b"), (third, "c"), (.common, "d"))
        let gone = handlers.remove(for: .common, whereCommon: [.default, other])
        #expect(Set(gone.map(\.name)).isSuperset(of: ["a", "b", "d"]))
        #expect(handlers.handler(for: .default) == nil)
        #expect(handlers.handler(for: other) == nil)
        #expect(handlers.handler(for: third)?.name == "c")
    }
}
