/// The fields of a header: names and values, in the order in which they are sent or were received.
///
/// A name may occur several times. Look-ups ignore the case of names.
///
/// ```swift
/// var fields: HTTPFields = ["Accept": "application/json"]
/// fields.append("Cookie", "a=1")
/// fields["accept"]  // "application/json"
/// ```
///
/// > Thread safety: a value.
public struct HTTPFields: Hashable, Sendable {
    /// A name and its value.
    public struct Field: Hashable, Sendable {
        /// The name, in the case in which it is sent or was received.
        public var name: String

        /// The value, without white space around it.
        public var value: String

        /// Creates a field.
        ///
        /// - Parameters:
        ///   - name: The name.
        ///   - value: The value.
        public init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    /// The stored fields.
    ///
    /// Callers use the span of this array to read names and values without copying them.
    package private(set) var fields: [Field] = []

    /// Creates an empty list of fields.
    public init() {}

    /// Creates an empty list of fields, with memory reserved for a number of fields.
    package init(capacity: Int) { fields.reserveCapacity(capacity) }

    /// Adds a field at the end, even if there is a field with this name already.
    ///
    /// - Parameters:
    ///   - name: The name.
    ///   - value: The value.
    public mutating func append(_ name: String, _ value: String) { fields.append(Field(name, value)) }

    /// The value of the first field with a name.
    ///
    /// Setting a value replaces all fields of this name with a single field; setting nil removes them.
    ///
    /// - Parameter name: The name, whose case is ignored.
    /// - Complexity: O(*n*) in the number of fields.
    public subscript(name: String) -> String? {
        get { fields.firstIndex { HTTPFields.areEqual($0.name, name) }.map { fields[$0].value } }
        set {
            let place = fields.firstIndex { HTTPFields.areEqual($0.name, name) }
            fields.removeAll { HTTPFields.areEqual($0.name, name) }
            if let newValue { fields.insert(Field(name, newValue), at: place ?? fields.endIndex) }
        }
    }

    /// Returns the values of all fields with a name, in order.
    ///
    /// - Parameter name: The name, whose case is ignored.
    /// - Returns: The values; an empty array if there is no such field.
    public func values(of name: String) -> [String] {
        fields.compactMap { HTTPFields.areEqual($0.name, name) ? $0.value : nil }
    }

    /// True if two names are equal except for the case of ASCII letters.
    package static func areEqual(_ one: String, _ other: String) -> Bool {
        areEqual(one.utf8.span, other.utf8.span)
    }

    /// True if two names are equal except for the case of ASCII letters.
    package static func areEqual(_ one: Span<UInt8>, _ other: Span<UInt8>) -> Bool {
        if one.count != other.count { return false }
        return one.indices.allSatisfy { lowercase(one[$0]) == lowercase(other[$0]) }
    }

    package static func lowercase(_ letter: UInt8) -> UInt8 {
        (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(letter) ? letter | 0x20 : letter
    }
}

extension HTTPFields: RandomAccessCollection {
    /// The position of the first field.
    public var startIndex: Int { fields.startIndex }

    /// The position after the last field.
    public var endIndex: Int { fields.endIndex }

    /// The field at a position.
    ///
    /// - Parameter position: The position of the field.
    public subscript(position: Int) -> Field { fields[position] }
}

extension HTTPFields: ExpressibleByDictionaryLiteral {
    /// Creates a list of fields from names and values, in the order of the literal.
    ///
    /// - Parameter elements: The names and values. A name may occur several times.
    public init(dictionaryLiteral elements: (String, String)...) {
        fields = elements.map { Field($0, $1) }
    }
}

extension HTTPFields: CustomStringConvertible {
    /// The fields, one on each line.
    public var description: String { fields.map { "\($0.name): \($0.value)" }.joined(separator: "\n") }
}
