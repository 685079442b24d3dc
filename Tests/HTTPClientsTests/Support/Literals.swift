public import HTTPClients

// Tests write many names of fields and methods as literals.

extension HTTPField.Name: @retroactive ExpressibleByExtendedGraphemeClusterLiteral {}
extension HTTPField.Name: @retroactive ExpressibleByUnicodeScalarLiteral {}
extension HTTPField.Name: @retroactive ExpressibleByStringLiteral {
    /// Makes the name.
    public init(stringLiteral name: String) { self.init(name)! }
}

extension HTTPRequest.Method: @retroactive ExpressibleByExtendedGraphemeClusterLiteral {}
extension HTTPRequest.Method: @retroactive ExpressibleByUnicodeScalarLiteral {}
extension HTTPRequest.Method: @retroactive ExpressibleByStringLiteral {
    /// Makes the method.
    public init(stringLiteral method: String) { self.init(method)! }
}
