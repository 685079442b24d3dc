internal import FoundationEssentials
internal import RunLoops

extension ProcessReport {
    /// The report as JSON text.
    ///
    /// Times are in nanoseconds. Control characters and invisible characters of formatting are written as escapes, so a terminal can
    /// show the text.
    public var json: String {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let data: Data
        do { data = try encoder.encode(ReportForm(self)) } catch {
            preconditionFailure("a report has texts and whole numbers only: \(error)")
        }
        var text = ""
        // Outside of strings, JSON without line breaks has harmless characters only.
        for scalar in String(decoding: data, as: UTF8.self).unicodeScalars {
            if ForeignText.isHarmless(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                text += ForeignText.jsonEscape(of: scalar)
            }
        }
        return text
    }

    /// Reads the JSON form of a report, which any process can have written.
    ///
    /// Control characters and invisible characters of formatting in the texts are replaced by their codes, as in `\u{1b}`, and texts
    /// of more than 1,000 characters are cut. So no text of the report can change a terminal, a log or a page.
    ///
    /// - Parameter json: The text, at most 16 MiB of UTF-8.
    /// - Throws: `DecodingError` if the text is not the JSON form of a report.
    public init(json: String) throws { try self.init(json: Array(json.utf8)) }

    package init(json: [UInt8]) throws {
        let checked: [UInt8]
        do throws(ForeignJSON.Violation) { checked = try ForeignJSON.check(json) } catch {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: error.reason))
        }
        self = try JSONDecoder().decode(ReportForm.self, from: Data(checked)).report
    }
}
