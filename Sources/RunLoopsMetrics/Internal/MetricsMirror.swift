#if Metrics
    internal import Inspection
    internal import Metrics

    /// Mirrors the statistics of every loop into swift-metrics counters, meters and timers.
    struct MetricsMirror {
        /// A metric and its labels.
        private struct Key: Hashable {
            let name: String
            let labels: [String]

            init(_ name: String, _ labels: [(String, String)]) {
                self.name = name
                self.labels = labels.map(\.1)
            }
        }

        /// The identity of a counter of one loop: its name, and the ID of the loop's thread.
        private struct Source: Hashable {
            let name: String
            let threadID: Int32
        }

        private let factory: any MetricsFactory
        private var counters: [Key: Counter] = [:]
        private var secondsCounters: [Key: FloatingPointCounter] = [:]
        private var meters: [Key: Meter] = [:]
        private var timers: [Key: CoreMetrics.Timer] = [:]
        /// The value of each counter at the last update.
        ///
        /// A loop that had ended before that update has no entry.
        private var counted: [Source: Int64] = [:]

        init(_ factory: any MetricsFactory) { self.factory = factory }

        /// Updates the swift-metrics counters and meters with the values of a report.
        mutating func show(_ report: ProcessReport) {
            let before = counted
            var shown: Set<Key> = []
            counted = [:]
            for family in report.metricFamilies {
                if family.kind == .gauge {
                    for (labels, value) in family.sums {
                        let labels = labels.map { ($0.name, $0.value) }
                        let key = Key(family.name, labels)
                        shown.insert(key)
                        meters.value(of: key) { [factory] in
                            Meter(label: family.name, dimensions: labels, factory: factory)
                        }.set(value)
                    }
                } else {
                    for sample in family.samples { count(sample, of: family, before: before) }
                }
            }
            // If a loop did not answer, the report does not contain the ports of that loop. The meters of such a loop are kept,
            // because its ports still exist.
            let silent = Set(report.loops.filter { $0.details == nil }.map(\.metricsLabel))
            for (key, meter) in meters where !shown.contains(key) && !silent.contains(key.labels[0]) {
                meter.destroy()
                meters[key] = nil
            }
        }

        private mutating func count(
            _ sample: MetricFamily.Sample, of family: MetricFamily, before: [Source: Int64]
        ) {
            let source = Source(name: family.name, threadID: sample.threadID)
            counted[source] = sample.value
            let labels = sample.labels.map { ($0.name, $0.value) }
            // If the value is less than before, it belongs to a newer loop, whose counts began at zero. The thread of the earlier
            // loop has ended, and the kernel has reused that thread's ID for the thread of the newer loop.
            let earlier = before[source] ?? 0
            let growth = sample.value < earlier ? sample.value : sample.value - earlier
            let key = Key(family.name, labels)
            if family.kind == .secondsCounter {
                secondsCounters.value(of: key) { [factory] in
                    FloatingPointCounter(label: family.name, dimensions: labels, factory: factory)
                }.increment(by: Double(growth) / 1e9)
            } else {
                counters.value(of: key) { [factory] in
                    Counter(label: family.name, dimensions: labels, factory: factory)
                }.increment(by: growth)
            }
        }

        /// Records a duration in a timer.
        mutating func record(_ duration: Duration, _ name: String, _ labels: [(String, String)]) {
            timers.value(of: Key(name, labels)) { [factory] in
                CoreMetrics.Timer(
                    label: name, dimensions: labels, preferredDisplayUnit: .seconds, factory: factory)
            }.recordNanoseconds(duration.wholeNanoseconds)
        }
    }

    extension Dictionary {
        /// The value of a key, which is made when it is first needed.
        fileprivate mutating func value(of key: Key, _ make: () -> Value) -> Value {
            if let known = self[key] { return known }
            let made = make()
            self[key] = made
            return made
        }
    }
#endif
