/// The rate at which observers are told of posters that have ended with posts that the hub never got.
///
/// Every observer gets a gap for such a poster, because the lost posts may be of any topic. A process can make one poster after
/// another, so it decides how often that happens. Beyond a number in each interval, the gaps are merged: observers are told once
/// that posts of any poster may be missing.
struct EndReports: Hashable, Sendable {
    /// The ways to tell of a poster that has ended with lost posts.
    enum Way: Hashable, Sendable {
        /// The poster is named.
        case exact
        /// The report stands for this poster and for others.
        case merged
        /// The report comes at the end of the interval.
        case later
    }

    /// The number of exact reports in this interval, for each share.
    private var exact: [Int: Int] = [:]
    private var total = 0
    private var hasMerged = false
    private var owesMerged = false
    /// The number of checks since the interval began.
    private var checkCount = 0

    /// The number of checks after which an interval ends.
    static let checksOfInterval = 4

    /// True if an interval is under way, which ``check()`` ends.
    var isActive: Bool { total > 0 || hasMerged }

    mutating func way(of share: Int, _ limits: Hub.Limits) -> Way {
        if total < limits.endReports && exact[share, default: 0] < limits.endReportsOfProcess {
            total += 1
            exact[share, default: 0] += 1
            return .exact
        }
        if hasMerged {
            owesMerged = true
            return .later
        }
        hasMerged = true
        return .merged
    }

    /// Notes a check, and begins another interval if it is time for that.
    ///
    /// - Returns: True if a merged report is due, which counts in the next interval.
    mutating func check() -> Bool {
        if !isActive { return false }
        checkCount += 1
        if checkCount < EndReports.checksOfInterval { return false }
        defer { self = EndReports(hasMerged: owesMerged) }
        return owesMerged
    }

    init() {}
    private init(hasMerged: Bool) { self.hasMerged = hasMerged }
}
