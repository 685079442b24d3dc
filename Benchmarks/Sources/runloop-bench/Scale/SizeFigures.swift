/// What something costs as it grows, in nanoseconds: one figure a round for each size.
struct SizeFigures {
    /// The sizes, smallest first; all are compared with that.
    let sizes: [Int]
    /// What there are so many of.
    let thing: String
    private var times = RoundFigures<Int>()

    init(_ sizes: [Int], _ thing: String) {
        self.sizes = sizes
        self.thing = thing
    }

    mutating func add(_ time: Double, of size: Int) { times.add(time, of: size) }

    /// The quotients of a size's figures and those of the smallest.
    func ratio(of size: Int) -> Spread? { times.ratio(size, to: sizes[0]) }

    /// A row for each size.
    func table(_ title: String, _ unit: String, _ format: NumberFormat, ratio: String) -> Table {
        var table = Table(
            title: "\(title) (\(unit))",
            columns: [
                .init(unit, "time", format), .init("from", "timeLow", format),
                .init("to", "timeHigh", format),
                .init(ratio, "ratio", .ratio), .init("from", "ratioLow", .ratio),
                .init("to", "ratioHigh", .ratio),
            ])
        table.rows = sizes.map { size in
            var row = Table.Row(name: "\(NumberFormat.grouped(size)) \(thing)")
            row.add(times.spread(size), as: "time")
            row.add(self.ratio(of: size), as: "ratio")
            return row
        }
        return table
    }

    /// One line that grows with the size.
    ///
    /// - Parameters:
    ///   - title: What is drawn.
    ///   - level: What a level line means.
    ///   - name: Whose line it is.
    /// - Returns: The chart.
    func chart(_ title: String, level: String, _ name: String) -> Chart {
        .growth(
            title: title,
            reading:
                "Level means that \(level); both scales go up tenfold from line to line. Each point is the median of all "
                + "rounds, the thin line spans half of them.",
            size: thing,
            lines: [
                Chart.Line(
                    name: name, role: .ours,
                    points: sizes.compactMap { size in
                        times.spread(size).map { Chart.Point(size: size, cost: $0) }
                    })
            ])
    }
}
