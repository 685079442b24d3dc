import RunLoops

@main struct Counter {
    @MainActor static var count = 0

    @MainActor static func main() {
        Timer.scheduledTimer(withTimeInterval: .milliseconds(10), repeats: true) { _ in count += 1 }
        Task {
            while count < 3 { try await Task.sleep(for: .milliseconds(10)) }
            RunLoop.main.stop()
        }
        RunLoop.main.run()
        print("counted to three:", count >= 3)
    }
}
