/// The name of a port, by which other processes of this machine find the port.
///
/// There are two kinds. A plain name, such as `clock` or `org.example.clock`, belongs to the user: its socket is in a directory
/// that only the user may enter. Only processes of the user and of the system administrator can take the name or connect to it. An
/// abstract name begins with `@`, as in `@org.example.clock`. Its socket is in no directory. Every process of the machine in the
/// same network namespace can connect to the name, and can take it if it is free.
///
/// So for an abstract name, the filter of the port is the only protection of a server. The name belongs to no user: another user
/// can take it before the server does, so a client that relies on the server checks ``RemotePort/peer``. Another user cannot take a
/// plain name. ``PortNames/user`` says where plain names are kept.
///
/// A name of either kind belongs to one port at a time, and is free when that port ends: <doc:NamesOfPorts>.
///
/// > Thread safety: a value.
public struct PortName: Hashable, Sendable {
    /// The largest number of bytes of a name, in UTF-8, without the `@`.
    public static let byteLimit = 80

    /// True if the name begins with `@`, so that it is in no directory and every process of the machine can take it.
    package let isAbstract: Bool

    /// The bytes that the kernel compares: the name without the `@`.
    let bytes: [UInt8]

    /// Makes a name.
    ///
    /// A name has between 1 and ``byteLimit`` bytes, with no `/` and no control character. A plain name does not begin with a dot.
    ///
    /// - Parameter text: The name, with `@` in front for an abstract name.
    /// - Throws: ``PortNameError/Reason/malformed`` if the text cannot be a name.
    public init(_ text: String) throws(PortNameError) {
        let isAbstract = text.utf8.first == UInt8(ascii: "@")
        let bytes = Array(text.utf8.dropFirst(isAbstract ? 1 : 0))
        if let reason = PortName.flaw(of: bytes, isAbstract: isAbstract) {
            throw PortNameError(.malformed, name: text, details: reason)
        }
        self.isAbstract = isAbstract
        self.bytes = bytes
    }

    private static func flaw(of bytes: [UInt8], isAbstract: Bool) -> String? {
        if bytes.isEmpty { return "it is empty" }
        if bytes.count > byteLimit { return "it has \(bytes.count) bytes, more than \(byteLimit)" }
        if bytes.contains(UInt8(ascii: "/")) { return "it has a slash" }
        if bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) { return "it has a control character" }
        if !isAbstract && bytes[0] == UInt8(ascii: ".") { return "it begins with a dot" }
        return nil
    }
}

extension PortName: CustomStringConvertible {
    /// The name as it was given, with the `@` of an abstract name.
    public var description: String { (isAbstract ? "@" : "") + String(decoding: bytes, as: UTF8.self) }
}
