/// A file format in which a recording can be written.
///
/// > Thread safety: a value.
@nonexhaustive
public enum TraceFormat: Hashable, Sendable, CaseIterable {
    /// Perfetto's protocol buffers, for ui.perfetto.dev and its command-line tools.
    case perfetto
    /// The JSON of Chrome's trace viewer, which many tools read. Times are microseconds from the beginning of the recording.
    case chromeJSON
    /// An HTML page that shows a timeline, and needs no other file and no network.
    case page
}
