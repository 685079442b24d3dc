/// The name of a server as its certificate has it.
struct ServerName {
    /// A host name without a dot at its end, or a numeric address without a scope.
    let text: String

    /// Makes a name from the host that a connection is made to; nil if no certificate can have that name.
    ///
    /// Names in certificates consist of ASCII characters; international names have a form that begins with `xn--`.
    init?(_ host: String) {
        var text = Substring(host)
        // Names in certificates have no dot at the end, and addresses no scope, which means something on this machine only.
        if text.hasSuffix(".") { text = text.dropLast() }
        if text.contains(":"), let scope = text.firstIndex(of: "%") { text = text[..<scope] }
        guard (1...255).contains(text.utf8.count), text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
            return nil
        }
        self.text = String(text)
    }
}
