import Glibc
import RunLoops
import TestSupport
import Testing

/// Sockets that a service manager has opened for the process.
///
/// Each test is a process of its own, because the environment belongs to all threads.
@Suite struct ServiceManagerSocketTests {
    @Test func `the sockets are taken over once, in order and close-on-exec`() async {
        await #expect(processExitsWith: .success) {
            let wires = try placeSockets(at: 200)
            setVariables(process: "\(getpid())", count: "2")
            var sockets = try OwnedDescriptor.socketsOfServiceManager(from: 200)
            let numbers = sockets.numbers
            #expect(numbers == [200, 201])
            #expect(numbers.allSatisfy { fcntl($0, F_GETFD) & FD_CLOEXEC != 0 })
            #expect(!hasVariables())
            // Safe: the kernel only reads the array.
            if let first = sockets.takeFirst() { _ = unsafe write(first.descriptor, [7], 1) }
            #expect(wires[0].drainFar() == 1)
            let others = try OwnedDescriptor.socketsOfServiceManager(from: 200).count
            #expect(others == 0)
        }
    }

    @Test func `variables for another process, or none, give no socket, and are removed`() async {
        await #expect(processExitsWith: .success) {
            _ = try placeSockets(at: 200)
            let own = "\(getpid())"
            for (process, count) in [("1", "2"), (own, "0"), (own, "-1"), ("x", "2"), ("", "")] {
                setVariables(process: process, count: count)
                let found = try OwnedDescriptor.socketsOfServiceManager(from: 200).count
                #expect(found == 0, "\(process), \(count)")
                #expect(!hasVariables())
            }
            #expect(fcntl(200, F_GETFD) & FD_CLOEXEC == 0)
        }
    }

    @Test func `a descriptor that is not open is an error, and the ones before it are closed`() async {
        await #expect(processExitsWith: .success) {
            _ = try placeSockets(at: 200)
            setVariables(process: "\(getpid())", count: "2147483647")
            #expect(throws: SystemError(call: "fcntl", code: EBADF)) {
                _ = try OwnedDescriptor.socketsOfServiceManager(from: 200)
            }
            #expect(fcntl(200, F_GETFD) == -1 && fcntl(201, F_GETFD) == -1)
            #expect(!hasVariables())
        }
    }
}

/// Makes two sockets that children inherit, at a number and the next one, and returns the wires to their other ends.
private func placeSockets(at first: CInt) throws -> [Wire] {
    try (0..<2).map { (index: CInt) in
        let wire = try Wire.sockets()
        #expect(dup2(wire.near, first + index) == first + index)
        return wire
    }
}

private func setVariables(process: String, count: String) {
    // Safe: no other thread of this process uses the environment.
    unsafe setenv("LISTEN_PID", process, 1)
    unsafe setenv("LISTEN_FDS", count, 1)
    unsafe setenv("LISTEN_FDNAMES", "a:b", 1)
}

private func hasVariables() -> Bool {
    for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] {
        if unsafe getenv(name) != nil { return true }
    }
    return false
}
