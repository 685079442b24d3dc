/// A format of a recording.
///
/// > Thread safety: a value.
public enum TraceFormat: Hashable, Sendable, CaseIterable {
    /// Perfetto's protocol buffers, for ui.perfetto.dev and its command-line tools.
    case perfetto
    /// The JSON of Chrome's trace viewer, which many tools read. Times are microseconds from the beginning of the recording.
    case chromeJSON
    /// A page of HTML with a timeline, which needs no other file and no network.
    case page
}
