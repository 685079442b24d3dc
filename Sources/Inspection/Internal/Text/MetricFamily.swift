internal import RunLoops

/// One metric, with its samples.
package struct MetricFamily: Sendable {
    package enum Kind: Sendable {
        case counter
        /// A counter that is exported in seconds; the values of its samples are in nanoseconds.
        case secondsCounter
        case gauge
    }

    package struct Label: Hashable, Sendable {
        package let name: String
        package let value: String

        init(_ name: String, _ value: String) {
            self.name = name
            self.value = value
        }
    }

    package struct Sample: Sendable {
        /// The system's ID of the thread whose loop the sample describes.
        package let threadID: Int32
        package let labels: [Label]
        package let value: Int64
    }

    package let name: String
    let help: String
    package let kind: Kind
    /// The samples.
    ///
    /// An export adds up the values of the samples that have the same labels.
    package let samples: [Sample]
}

extension MetricFamily {
    /// For each distinct list of labels, the sum of the values of the samples with these labels.
    ///
    /// The lists are in the order in which they first occur among the samples.
    package var sums: [(labels: [Label], value: Int64)] {
        var sums: [[Label]: Int64] = [:]
        var order: [[Label]] = []
        for sample in samples {
            if sums[sample.labels] == nil { order.append(sample.labels) }
            sums[sample.labels] = (sums[sample.labels] ?? 0).clampedSum(sample.value)
        }
        return order.map { ($0, sums[$0] ?? 0) }
    }

    /// The text form of the metric, as Prometheus reads it.
    var prometheusText: String {
        var text = "# HELP \(name) \(help)\n# TYPE \(name) \(kind == .gauge ? "gauge" : "counter")\n"
        for (labels, value) in sums {
            let list = labels.map { "\($0.name)=\"\($0.value.metricsEscaped)\"" }.joined(separator: ",")
            text += "\(name){\(list)} \(kind == .secondsCounter ? value.text(decimals: 9) : "\(value)")\n"
        }
        return text
    }
}

extension Int64 {
    /// This number, divided by ten for each of some decimals.
    func text(decimals count: Int) -> String {
        var power: UInt64 = 1
        for _ in 0..<count { power *= 10 }
        let decimals = String(magnitude % power)
        return "\(self < 0 ? "-" : "")\(magnitude / power)."
            + String(repeating: "0", count: count - decimals.count) + decimals
    }
}

extension String {
    fileprivate var metricsEscaped: String {
        var escaped = ""
        for scalar in unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n": escaped += "\\n"
            case _ where ForeignText.isHarmless(scalar): escaped.unicodeScalars.append(scalar)
            default: escaped += "\\" + ForeignText.replacement(of: scalar)
            }
        }
        return escaped
    }
}
