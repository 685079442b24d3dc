import RunLoops

@main struct Server {
    static func main() async throws {
        try RunLoop.adoptMain()
        try await serve()
    }
}
