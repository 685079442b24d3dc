#if Logging
    public import Logging
    public import RunLoops

    extension RunLoopDiagnostics {
        /// Logs the reports that cannot be returned to a caller, instead of writing them to standard error.
        ///
        /// The text of a report is the message. A report that a port between processes makes about a peer also has metadata: `port`
        /// is the port's name, and `peer-process` and `peer-user` are the system's IDs of the peer.
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
        /// A placeholder for the method that takes a logger, which needs the trait `Logging`.
        @available(
            *, unavailable,
            message: "name the trait where you name the package: .package(url: …, traits: [\"Logging\"])"
        )
        public static func log(to logger: Any) {}
    }
#endif
