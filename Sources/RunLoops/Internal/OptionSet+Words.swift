extension OptionSet where RawValue: FixedWidthInteger {
    /// Returns the names of the members, as in `[readable, hangUp]`; bits without a name are shown as a number.
    package func words(_ names: KeyValuePairs<String, Self>) -> String {
        var words: [String] = []
        var rest = rawValue
        for (name, option) in names where option.rawValue & ~rawValue == 0 {
            words.append(name)
            rest &= ~option.rawValue
        }
        if rest != 0 { words.append("0x" + String(rest, radix: 16)) }
        return "[" + words.joined(separator: ", ") + "]"
    }
}
