import Glibc

/// Writes a line to standard error, in one piece.
///
/// - Parameter line: The line, without its end.
public func log(_ line: String) {
    let bytes = Array("\(line)\n".utf8)
    // Not buffered, so that lines of several threads do not mix, and none is lost at the end of the process. If standard
    // error is closed, the line is lost: there is no other place to report that.
    _ = write(STDERR_FILENO, bytes, bytes.count)
}

/// Writes a line to standard output at once, for a program that waits for it.
///
/// - Parameter line: The line, without its end.
public func announce(_ line: String) {
    print(line)
    fflush(nil)
}

/// Lets the process open as many descriptors as the administrator allows it, which is mostly far more than the default of 1,024.
public func raiseDescriptorLimit() {
    let resource = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
    var limit = rlimit()
    if getrlimit(resource, &limit) != 0 { return }
    limit.rlim_cur = limit.rlim_max
    if setrlimit(resource, &limit) != 0 { log("the limit of descriptors stays as it is: errno \(errno)") }
}

/// Runs a program, which exits with 1 if an error ends it.
///
/// An error that `main` throws is printed with a report of a crash, for which there is no reason if a port is taken.
///
/// - Parameter body: The program.
public func runProgram(_ body: () throws -> Void) {
    do { try body() } catch {
        log("\(error)")
        exit(1)
    }
}
