import Foundation
import TestSupport

/// The processes of one test, and the files that they write.
final class Fleet {
    /// A process.
    struct Member {
        let role: String
        let path: String
        let child: Child
        var isAlive = true
    }

    let directory: ScratchDirectory
    private let journals: ScratchDirectory
    private(set) var members: [Member] = []

    init() throws {
        directory = try ScratchDirectory()
        journals = try ScratchDirectory()
    }

    /// Starts a process.
    ///
    /// - Returns: Its index.
    @discardableResult
    func start(_ role: String, _ argument: String = "0") -> Int {
        let program = URL(filePath: "/proc/self/exe").resolvingSymlinksInPath().deletingLastPathComponent()
            .appending(path: "NotificationPeer").path
        let path = "\(journals.path)/\(members.count)"
        let child = Child(shell: "exec '\(program)' \(role) '\(directory.path)' '\(path)' \(argument)")
        members.append(Member(role: role, path: path, child: child))
        return members.count - 1
    }

    /// The whole lines that a process has written so far.
    func lines(of index: Int) -> [[String]] {
        guard let text = FileManager.default.contents(atPath: members[index].path) else { return [] }
        return String(decoding: text, as: UTF8.self).split(separator: "\n").map {
            $0.split(separator: " ").map(String.init)
        }
    }

    /// Waits until a process has written a line that begins with a word.
    func wait(for word: String, from index: Int) -> Bool {
        let deadline = ContinuousClock.now + .seconds(60)
        while ContinuousClock.now < deadline {
            if lines(of: index).contains(where: { $0.first == word }) { return true }
            usleep(2_000)
        }
        return false
    }

    /// Sends a signal to a process.
    ///
    /// If the signal is SIGSTOP, all threads of the process have stopped when the method returns.
    func send(_ signal: CInt, to index: Int) {
        let process = members[index].child.processID
        kill(process, signal)
        if signal != SIGSTOP { return }
        var report = unsafe siginfo_t()
        // Safe: the kernel fills a local variable. `WNOWAIT` leaves the report, so that a process that was stopped before has it, too.
        _ = unsafe waitid(P_PID, id_t(process), &report, WSTOPPED | WNOWAIT)
    }

    /// Kills a process, and waits for its end.
    func kill9(_ index: Int) {
        if !members[index].isAlive { return }
        members[index].isAlive = false
        send(SIGKILL, to: index)
        _ = members[index].child.wait()
    }

    func living(_ role: String) -> [Int] {
        members.indices.filter { members[$0].role == role && members[$0].isAlive }
    }

    func end() throws {
        for index in members.indices {
            send(SIGCONT, to: index)
            kill9(index)
        }
        try journals.remove()
        try directory.remove()
    }
}
