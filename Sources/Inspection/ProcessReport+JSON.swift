internal import FoundationEssentials

extension ProcessReport {
    /// The report as JSON text, whose keys are the names of the report's members.
    ///
    /// Times are in nanoseconds.
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        guard let data = try? encoder.encode(self) else {
            preconditionFailure("a report has texts and whole numbers only")
        }
        return String(decoding: data, as: UTF8.self)
    }

    /// Reads the JSON form of a report.
    ///
    /// - Parameter json: The bytes.
    /// - Throws: `DecodingError` if the bytes are not the JSON form of a report.
    public init(json: [UInt8]) throws {
        self = try JSONDecoder().decode(ProcessReport.self, from: Data(json))
    }
}
