internal import RunLoops

/// A recording, converted to an HTML page: a single file, which loads no other resources.
struct TimelinePage {
    let text: String

    init(_ trace: Trace) { self.init(recording: TimelinePage.data(of: trace)) }

    /// Makes a page again from one that another process has made.
    ///
    /// Only the recording is taken, as JSON whose strings were checked. The markup and the scripts are those of this program, so that
    /// the other process cannot make a browser do anything, such as load another page.
    ///
    /// - Parameter page: The page of the other process.
    /// - Throws: `Violation` if it contains no recording.
    init(foreign page: [UInt8]) throws(ForeignJSON.Violation) {
        guard let recording = TimelinePage.recording(in: page) else {
            throw ForeignJSON.Violation(reason: "it contains no recording")
        }
        let checked = try ForeignJSON.check(recording, atMost: TimelinePage.mostBytes)
        var data: [UInt8] = []
        data.reserveCapacity(checked.count)
        // As in ``JSONText``: a string with `</script>` would end the element.
        for byte in checked {
            if byte == UInt8(ascii: "<") { data += "\\u003c".utf8 } else { data.append(byte) }
        }
        self.init(recording: String(decoding: data, as: UTF8.self))
    }

    /// The maximum number of bytes of a page of another process; that of the largest recording has about 30 MiB.
    private static let mostBytes = 256 << 20
    private static let beginning = "<script type=\"application/json\" id=\"recording\">"
    private static let ending = "</script>"

    private static func recording(in page: [UInt8]) -> [UInt8]? {
        let (beginning, ending) = (Array(beginning.utf8), Array(ending.utf8))
        guard let start = page.firstIndex(of: beginning, from: 0).map({ $0 + beginning.count }),
            let end = page.firstIndex(of: ending, from: start)
        else { return nil }
        return Array(page[start..<end])
    }

    private init(recording: String) {
        text = """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width, initial-scale=1">
            <meta http-equiv="Content-Security-Policy" \
            content="default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; form-action 'none'; \
            base-uri 'none'">
            <title>Timeline</title>
            <style>
            \(TimelinePage.style)
            </style>
            </head>
            <body>
            \(TimelinePage.body)
            \(TimelinePage.beginning)\(recording)\(TimelinePage.ending)
            <script>
            \(TimelinePage.drawing)
            \(TimelinePage.handling)
            </script>
            </body>
            </html>

            """
    }

    /// Returns the recording as JSON in which each distinct string is written only once.
    private static func data(of trace: Trace) -> String {
        var texts = Texts()
        var json = JSONText()
        json.object { json in
            json.pair("process", trace.process)
            json.pair("program", trace.program)
            json.pair("length", max(1, trace.end - trace.begin))
            json.key("threads")
            json.array { json in
                for lane in trace.threads { write(lane, trace.begin, &texts, &json) }
            }
            json.key("texts")
            json.array { json in for text in texts.all { json.string(text) } }
        }
        return json.text
    }

    private static func write(
        _ lane: Trace.Lane, _ begin: Int64, _ texts: inout Texts, _ json: inout JSONText
    ) {
        json.newLine()
        json.object { json in
            json.pair("id", lane.id)
            json.pair("name", lane.name)
            json.key("state")
            json.string(
                (lane.hasEnded ? "ended" : "") + (lane.lacksEvents ? " older events were overwritten" : ""))
            json.key("items")
            json.array { json in for item in lane.items { write(item, begin, &texts, &json) } }
        }
    }

    /// Writes an item as an array: start, length, depth, kind, title, place, wait, flow, and then any further values.
    ///
    /// The length is -1 for an instant. The place is the source location of a handler; for all other items it is -1. The wait is -1
    /// if there was none. The flow is the number of the arrow that the page draws from or to the item, or an empty string if there
    /// is no arrow.
    private static func write(
        _ item: Trace.Item, _ begin: Int64, _ texts: inout Texts, _ json: inout JSONText
    ) {
        var place = -1
        if case .handler = item.event.kind { place = texts.number(of: item.event.place) }
        json.array { json in
            json.number(item.start - begin)
            json.number(item.end.map { $0 - item.start } ?? -1)
            json.number(item.depth)
            json.number(texts.number(of: item.event.kind.word))
            json.number(texts.number(of: item.event.title))
            json.number(place)
            json.number(item.event.wait?.wholeNanoseconds ?? -1)
            json.string(item.flow.map { String($0, radix: 36) } ?? "")
            for (name, value) in item.particulars {
                switch value {
                case .number(let number):
                    json.string(name)
                    json.number(number)
                case .text(let text): json.string("\(name.replacingUnderscores): \(text)")
                }
            }
        }
    }

    /// The distinct strings of a page.
    ///
    /// The items refer to a string by its number.
    private struct Texts {
        private(set) var all: [String] = []
        private var numbers: [String: Int] = [:]

        mutating func number(of text: String) -> Int {
            if let known = numbers[text] { return known }
            numbers[text] = all.count
            all.append(text)
            return all.count - 1
        }
    }
}

extension [UInt8] {
    /// Returns the index at which a sequence of bytes first begins, at or after another index; nil if there is none.
    fileprivate func firstIndex(of sought: [UInt8], from start: Int) -> Int? {
        var index = start
        while let found = self[index...].firstIndex(of: sought[0]) {
            if self[found...].starts(with: sought) { return found }
            index = found + 1
        }
        return nil
    }
}

extension String {
    fileprivate var replacingUnderscores: String { String(map { $0 == "_" ? " " : $0 }) }
}
