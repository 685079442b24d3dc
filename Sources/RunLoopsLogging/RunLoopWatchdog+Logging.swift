#if Logging
    public import Logging
    public import RunLoops

    extension RunLoopWatchdog {
        /// Starts a watchdog that logs its reports.
        ///
        /// If a handler that blocks its loop still blocks it after twice the time of the previous report, it is logged again, at
        /// least as an error. The return of the handler is logged at most as a notice. Each log entry has the
        /// ``RunLoops/RunLoopWatchdog/Report/metadata`` of its report.
        ///
        /// - Parameters:
        ///   - threshold: The time that a handler may take; more than zero.
        ///   - logger: The logger, which is called on the watchdog's thread.
        ///   - level: The level at which a handler that blocks its loop is logged.
        /// - Throws: `SystemError` if the system cannot start a thread, or cannot open the descriptors of its loop. In that case,
        ///   nothing is watched.
        public convenience init(
            threshold: Duration = .milliseconds(200), logger: Logger, level: Logger.Level = .warning
        ) throws(SystemError) {
            try self.init(threshold: threshold) { report in
                let (entryLevel, message): (Logger.Level, Logger.Message) =
                    switch report.phase {
                    case .blocked: (level, "A handler blocks its loop")
                    case .stillBlocked: (max(level, .error), "A handler still blocks its loop")
                    case .ended: (min(level, .notice), "A handler that blocked its loop has returned")
                    }
                logger.log(level: entryLevel, message, metadata: report.metadata, source: "RunLoops")
            }
        }
    }

    extension RunLoopWatchdog.Report {
        /// The report as metadata for a log.
        ///
        /// | key | value |
        /// |---|---|
        /// | `run-loop` | the name of the loop |
        /// | `thread` | the system's ID of its thread |
        /// | `handler` | the kind of handler, in words |
        /// | `made-at` | the place where the handler was made: file identifier and line |
        /// | `milliseconds` | the time for which the watchdog has observed the call |
        /// | `arrivals` | the amount of work that other threads have sent to the loop during that time |
        /// | `timer-delay-milliseconds` | the time for which a timer of the loop has been due; only if a timer is due |
        public var metadata: Logger.Metadata {
            var metadata: Logger.Metadata = [
                "run-loop": "\(loop.name)", "thread": "\(threadID)", "handler": "\(handler)",
                "made-at": "\(madeAt)", "milliseconds": "\(duration.wholeMilliseconds)",
                "arrivals": "\(arrivals)",
            ]
            if let timerDelay {
                metadata["timer-delay-milliseconds"] = "\(timerDelay.wholeMilliseconds)"
            }
            return metadata
        }
    }

    extension Duration {
        fileprivate var wholeMilliseconds: Int64 { Int64(self / .milliseconds(1)) }
    }
#else
    public import RunLoops

    extension RunLoopWatchdog {
        /// A placeholder for this initializer, which is available only with the package trait `Logging`.
        @available(
            *, unavailable,
            message: "name the trait where you name the package: .package(url: …, traits: [\"Logging\"])"
        )
        public convenience init(threshold: Duration = .zero, logger: Any) throws(SystemError) {
            try self.init { _ in }
        }
    }
#endif
