#if Logging
    public import Logging
    public import RunLoops

    extension RunLoopDiagnostics {
        /// Sends the diagnostic reports to a logger instead of standard error.
        ///
        /// The text of a report is the message of a log entry. If a port between processes reports
        /// something about a peer, the entry has metadata: `port` is the port's name, and `peer-process` and `peer-user` are the
        /// peer's process ID and user ID.
        ///
        /// The logger replaces ``/RunLoops/RunLoopDiagnostics/handler``; set that property to nil to write to standard error again.
        ///
        /// - Parameters:
        ///   - logger: The logger, which is called on a separate thread, and which may block.
        ///   - level: The level of the reports.
        public static func log(to logger: Logger, level: Logger.Level = .warning) {
            setHandler { report in
                logger.log(
                    level: level, "\(report.line)",
                    metadata: report.details.mapValues { .string($0) }, source: "RunLoops")
            }
        }
    }
#else
    public import RunLoops

    extension RunLoopDiagnostics {
        /// A placeholder for this method, which is available only with the package trait `Logging`.
        @available(
            *, unavailable,
            message: "name the trait where you name the package: .package(url: …, traits: [\"Logging\"])"
        )
        public static func log(to logger: Any) {}
    }
#endif
