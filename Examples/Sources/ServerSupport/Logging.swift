import Glibc

/// Writes a line to standard error with one system call.
///
/// - Parameter line: The line, without its end.
public func log(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    // Not buffered, so that lines of several threads do not mix, and no line is lost at the end of the process. If standard error
    // is closed, the line is lost, because there is no other place to report the failure.
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// Writes a line to standard output and flushes it, for a program that waits for the line.
///
/// - Parameter line: The line, without its end.
public func announce(_ line: String) {
    print(line)
    fflush(nil)
}

/// Raises the limit of descriptors to the hard limit, which is usually far above the default of 1,024.
public func raiseDescriptorLimit() {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    if getrlimit(resource, &limit) != 0 { return }
    limit.rlim_cur = limit.rlim_max
    if setrlimit(resource, &limit) != 0 { log("the limit of descriptors stays as it is: errno \(errno)") }
}

/// Runs a program, which exits with 1 if an error ends it.
///
/// If `main` threw the error, the process would print a crash report, which is wrong for an error such as a port in use.
///
/// - Parameter body: The program.
public func runProgram(_ body: () throws -> Void) {
    do { try body() } catch {
        log("\(error)")
        exit(1)
    }
}
