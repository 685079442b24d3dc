/// A walk over marks or posters, of which a connection is told in parts.
///
/// The parts are made one by one, when they are sent. So a survey takes no memory, and no time in one go, however much there is to
/// tell. It tells the numbers at the moment of its beginning: for a topic with a later post in the queue, it notes the number from
/// before that post. Otherwise the connection would take the later post for an old one.
struct HubSurvey: Hashable, Sendable {
    enum Purpose: Hashable, Sendable {
        /// The connection is told of the posters that have not ended.
        case posters
        /// A subscription is told of the newest horizons, before it gets the earlier posts that it asked for.
        case bases(UInt64)
        /// A subscription is told of the newest numbers, and begins.
        case marks(UInt64)
        /// The connection is told what it has missed.
        case losses
    }

    /// The number of marks or posters of a part.
    static let marksOfPart = 16
    /// The maximum number of marks that a subscription is told in one part, and at once.
    static let marksAtOnce = 64
    /// The number of steps that a mark counts as: it is looked up, copied and written, with its topic.
    static let stepsOfMark = 4

    let purpose: Purpose
    /// The marks and posters after this place come next.
    var last: UInt64
    /// The place of the newest mark or poster of the survey.
    let end: UInt64
    /// The position of the hub's newest post when the survey began.
    let position: Position
    /// The numbers of topics before the first post that is in the queue after the survey.
    private var before: [HubIndex.MarkKey: UInt64] = [:]

    init(_ purpose: Purpose, end: UInt64, position: Position) {
        self.purpose = purpose
        last = 0
        self.end = end
        self.position = position
    }

    /// Notes that a post of a topic follows in the queue, and the number of the topic before that.
    mutating func note(_ key: HubIndex.MarkKey, _ number: UInt64) {
        switch purpose {
        case .posters, .bases: break
        case .marks, .losses: if before[key] == nil { before[key] = number }
        }
    }

    /// Returns the number that the survey tells of a topic; 0 if the topic is too new.
    func number(of key: HubIndex.MarkKey, now number: UInt64) -> UInt64 { before[key] ?? number }
}
