extension Timer {
    /// Makes a timer and adds it to the current loop in the default mode.
    ///
    /// - Parameters:
    ///   - interval: The time to the first fire, and between fires, as in ``init(timeInterval:repeats:fileID:line:block:)``.
    ///   - repeats: True if the timer continues after the first fire.
    ///   - fileID: The file of the call, for diagnostics.
    ///   - line: The line of the call, for diagnostics.
    ///   - block: Called on this thread with the timer.
    /// - Returns: The timer.
    ///
    /// > Thread safety: any thread; the loop is the calling thread's.
    @available(
        *, noasync, message: "the thread may change at any await; perform a block on the loop you want"
    )
    @discardableResult
    public static func scheduledTimer(
        withTimeInterval interval: Duration, repeats: Bool, fileID: StaticString = #fileID, line: Int = #line,
        block: @escaping (Timer) -> Void
    ) -> Timer {
        let timer = Timer(timeInterval: interval, repeats: repeats, fileID: fileID, line: line, block: block)
        RunLoop.current.add(timer, forMode: .default)
        return timer
    }
}
