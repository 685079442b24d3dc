#if Logging
    public import Logging
    public import RunLoops

    extension FlightRecorder {
        /// Logs each time that a handler of any loop returns after running for longer than a threshold.
        ///
        /// ```swift
        /// try recorder.logSlowHandlers(over: .milliseconds(100), to: logger) { snapshot in
        ///     ["recording": "\(keep(snapshot))"]
        /// }
        /// ```
        ///
        /// This method finds slow handlers in the same way as ``/RunLoops/FlightRecorder/reportSlowHandlers(over:to:)``, and at the same
        /// cost.
        ///
        /// - Parameters:
        ///   - threshold: The time that a handler may take; more than zero.
        ///   - logger: The logger, which is called on a separate thread.
        ///   - level: The level of the log entries.
        ///   - metadata: Called before the logger, with a snapshot that contains the call of the handler. It returns metadata to log
        ///     next to ``RunLoops/RunLoopWatchdog/Report/metadata``, such as the path of the file with the snapshot.
        /// - Throws: `SystemError` if the system cannot start a thread, or cannot open the descriptors of its loop.
        public func logSlowHandlers(
            over threshold: Duration, to logger: Logger, level: Logger.Level = .warning,
            metadata: @escaping @Sendable (Snapshot) -> Logger.Metadata = { _ in [:] }
        ) throws(SystemError) {
            try reportSlowHandlers(over: threshold) { snapshot, report in
                let all = report.metadata.merging(metadata(snapshot)) { _, added in added }
                logger.log(level: level, "A handler was slow", metadata: all, source: "RunLoops")
            }
        }
    }
#else
    public import RunLoops

    extension FlightRecorder {
        /// A placeholder for this method, which is available only with the package trait `Logging`.
        @available(
            *, unavailable,
            message: "name the trait where you name the package: .package(url: …, traits: [\"Logging\"])"
        )
        public func logSlowHandlers(over threshold: Duration, to logger: Any) {}
    }
#endif
