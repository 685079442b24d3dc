#if HTTPServers
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
            package var lines: String {
                var lines = ""
                if let name { lines += "event: \(Event.oneLine(name))\n" }
                if let id { lines += "id: \(Event.oneLine(id))\n" }
                if let retry { lines += "retry: \(Event.milliseconds(retry))\n" }
                for line in Event.lines(of: data) { lines += "data: \(line)\n" }
                return lines + "\n"
            }

            /// Returns the lines of a text.
            ///
            /// Only CR LF, LF and CR end a line of an event stream; see the HTML standard, 9.2.6. The other line breaks of Unicode are
            /// part of the text.
            private static func lines(of text: String) -> [Substring] {
                var lines: [Substring] = []
                let letters = text.unicodeScalars
                var (start, index) = (letters.startIndex, letters.startIndex)
                while index < letters.endIndex {
                    let letter = letters[index]
                    let end = index
                    letters.formIndex(after: &index)
                    if letter != "\r" && letter != "\n" { continue }
                    if letter == "\r" && index < letters.endIndex && letters[index] == "\n" {
                        letters.formIndex(after: &index)
                    }
                    lines.append(Substring(letters[start..<end]))
                    start = index
                }
                lines.append(Substring(letters[start...]))
                return lines
            }

            /// Returns a text without what would end its line or its field early.
            static func oneLine(_ text: String) -> String {
                var line = String.UnicodeScalarView()
                line.append(contentsOf: text.unicodeScalars.filter { $0 != "\r" && $0 != "\n" && $0 != "\0" })
                return String(line)
            }

            /// Returns the milliseconds of a time, from 0 to those that a browser's timer can count.
            private static func milliseconds(_ time: Duration) -> Int64 {
                let (seconds, attoseconds) = time.components
                if seconds < 0 { return 0 }
                return min(seconds, Int64(Int32.max) / 1_000) * 1_000
                    + max(0, attoseconds / 1_000_000_000_000_000)
            }
        }
    }

    extension HTTPServer.Event: CustomStringConvertible {
        /// A description: the name and the text.
        public var description: String { "\(name ?? "message"): \(data)" }
    }
#endif
