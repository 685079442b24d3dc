extension HTTPServer {
    /// An event of a stream that browsers read with `EventSource`.
    ///
    /// > Thread safety: a value.
    public struct Event: Hashable, Sendable {
        /// The text, which may have several lines.
        public var data: String

        /// The name of the event, for which a page adds a listener; nil for the default name, `message`.
        public var name: String?

        /// The identifier that a browser sends as `Last-Event-ID` when it reconnects; nil for none.
        public var id: String?

        /// The time after which a browser reconnects; nil for the browser's default.
        public var retry: Duration?

        /// Creates an event.
        ///
        /// - Parameters:
        ///   - data: The text.
        ///   - name: The name.
        ///   - id: The identifier.
        ///   - retry: The time after which a browser reconnects.
        public init(_ data: String, name: String? = nil, id: String? = nil, retry: Duration? = nil) {
            self.data = data
            self.name = name
            self.id = id
            self.retry = retry
        }

        /// The event as it is sent: one line for each field, and a blank line.
        ///
        /// Line breaks in a name or an identifier are removed, because the text after them would be taken for another field.
        public var lines: String {
            var lines = ""
            if let name { lines += "event: \(Event.oneLine(name))\n" }
            if let id { lines += "id: \(Event.oneLine(id))\n" }
            if let retry {
                lines +=
                    "retry: \(retry.components.seconds * 1_000 + retry.components.attoseconds / 1_000_000_000_000_000)\n"
            }
            for line in data.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline) {
                lines += "data: \(line)\n"
            }
            return lines + "\n"
        }

        private static func oneLine(_ text: String) -> String { text.filter { !$0.isNewline && $0 != "\0" } }
    }
}

extension HTTPServer.Event: CustomStringConvertible {
    /// A description: the name and the text.
    public var description: String { "\(name ?? "message"): \(data)" }
}
