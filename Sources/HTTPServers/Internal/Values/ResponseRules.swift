internal import HTTPMessages

/// The rules that the server checks before it sends an answer of the user's code.
enum ResponseRules {
    /// The reason that an answer must not be sent; nil if the answer is valid.
    static func problem(status: Int, fields: HTTPFields) -> String? {
        if !(200...599).contains(status) { return "the status is \(status), not one from 200 to 599" }
        let fields = fields.fields.span
        for index in fields.indices {
            if !MessageRules.isToken(fields[index].name) {
                return "a field has the name \(fields[index].name.debugDescription)"
            }
            // libmicrohttpd refuses empty values.
            if fields[index].value.isEmpty || !MessageRules.isFieldValue(fields[index].value) {
                return "the field \(fields[index].name) has the value \(fields[index].value.debugDescription)"
            }
            if isOwn(fields[index].name) { return "the field \(fields[index].name) is the server's own" }
        }
        return nil
    }

    private static func isOwn(_ name: String) -> Bool {
        switch name.utf8.count {
        case 4: HTTPFields.areEqual(name, "Date")
        case 10: HTTPFields.areEqual(name, "Connection")
        case 14: HTTPFields.areEqual(name, "Content-Length")
        case 17: HTTPFields.areEqual(name, "Transfer-Encoding")
        default: false
        }
    }
}
