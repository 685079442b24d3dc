/// A part of the family: subjects that take turns in its rounds.
protocol NotificationsPart {
    /// What is measured, or was when it failed.
    var stage: String { get }

    /// Lets each subject take its turn, each time in another order.
    ///
    /// - Parameters:
    ///   - round: Which round it is, from zero; less than zero to warm up.
    ///   - session: Where, and for how long.
    /// - Throws: What was lost or came twice.
    mutating func measure(round: Int, in session: Session) throws

    /// Does what is done once, after all rounds.
    mutating func end(in session: Session) throws

    var remarks: [String] { get }
    var tables: [Table] { get }
    var chart: Chart { get }
    var failures: [String] { get }

    /// The targets' rows.
    func targets(on machine: Machine) -> [TargetRow]
}

extension NotificationsPart {
    mutating func end(in session: Session) throws {}

    var remarks: [String] { [] }

    var failures: [String] { [] }
}
