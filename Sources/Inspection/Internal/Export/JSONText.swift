internal import RunLoops

/// A builder of JSON text, to which the parts are appended in order.
struct JSONText {
    private(set) var text = ""
    private var needsComma = false

    mutating func object(_ body: (inout JSONText) -> Void) { enclose("{", "}", body) }
    mutating func array(_ body: (inout JSONText) -> Void) { enclose("[", "]", body) }

    private mutating func enclose(_ open: String, _ close: String, _ body: (inout JSONText) -> Void) {
        separate()
        text += open
        needsComma = false
        body(&self)
        text += close
        needsComma = true
    }

    mutating func key(_ key: String) {
        string(key)
        text += ":"
        needsComma = false
    }

    mutating func pair(_ key: String, _ value: String) {
        self.key(key)
        string(value)
    }

    mutating func pair(_ key: String, _ value: some BinaryInteger) {
        self.key(key)
        number(value)
    }

    mutating func string(_ value: String) {
        separate()
        text += "\""
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\"": text += "\\\""
            case "\\": text += "\\\\"
            // Without this escape, a string with `</script>` would end the `<script>` element in which the text is embedded.
            case "<": text += "\\u003c"
            case _ where ForeignText.isHarmless(scalar): text.unicodeScalars.append(scalar)
            default: text += ForeignText.jsonEscape(of: scalar)
            }
        }
        text += "\""
    }

    mutating func number(_ value: some BinaryInteger) {
        separate()
        text += String(value)
    }

    /// Appends a number of nanoseconds, as microseconds with three decimals.
    mutating func microseconds(_ nanoseconds: Int64) {
        separate()
        text += nanoseconds.text(decimals: 3)
    }

    /// Begins a new line, so that a long text is readable.
    ///
    /// The line break has no meaning in JSON.
    mutating func newLine() { text += "\n" }

    private mutating func separate() {
        if needsComma { text += "," }
        needsComma = true
    }
}
