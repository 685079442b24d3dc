internal import RunLoops
internal import Streams

/// The names that libcurl has asked for in one request.
///
/// libcurl would resolve each name on a thread of its own, and leaves the thread behind if the transfer ends before there is an answer.
/// So libcurl is refused to resolve names: a request that needs the address of a name ends, and begins again with the address. libcurl
/// keeps the address for a minute, and asks only if it has no connection that it can use again.
struct NameLookUps {
    enum Kind {
        case host
        case proxy
    }

    enum Name {
        /// libcurl has not asked for the name.
        case notNeeded
        case underWay(LoopLookUp)
        /// The name is a numeric address, for which libcurl needs no thread.
        case numeric
        /// The addresses, as `HOST:PORT:ADDRESS,...`.
        case found(String)

        /// The addresses; nil if there are none.
        var addresses: String? { if case .found(let addresses) = self { addresses } else { nil } }
    }

    var host = Name.notNeeded
    var proxy = Name.notNeeded
    /// The instant at which libcurl has first asked; nil if it has not.
    private var start: ContinuousClock.Instant?

    subscript(kind: Kind) -> Name {
        get { kind == .host ? host : proxy }
        set { if kind == .host { host = newValue } else { proxy = newValue } }
    }

    /// The number of names that libcurl may resolve, because they are numeric.
    var numericCount: CInt {
        [host, proxy].reduce(0) { count, name in
            if case .numeric = name { count + 1 } else { count }
        }
    }

    /// Records that libcurl has asked for a name.
    mutating func begin() { if start == nil { start = .now } }

    /// Returns what is left of the time limit for making a connection.
    func connectTimeLeft(of limit: Duration) -> Duration {
        guard let start else { return limit }
        return max(.milliseconds(1), limit - (ContinuousClock.now - start))
    }

    /// Gives up the look-ups that are under way.
    mutating func giveUp() {
        for kind in [Kind.host, .proxy] {
            if case .underWay(let lookUp) = self[kind] {
                self[kind] = .notNeeded
                lookUp.cancel()
            }
        }
    }
}
