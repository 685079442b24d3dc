/// A command in the server's protocol, in one flat buffer.
struct RedisCommand {
    private(set) var bytes: [UInt8]

    /// Encodes a command of arguments that may be any bytes.
    init(_ arguments: [[UInt8]]) {
        bytes = []
        bytes.reserveCapacity(arguments.reduce(16) { $0 + $1.count + 16 })
        append("*", arguments.count)
        for argument in arguments {
            append("$", argument.count)
            bytes += argument
            bytes += [13, 10]
        }
    }

    init(_ words: String...) { self.init(words.map { Array($0.utf8) }) }

    private mutating func append(_ mark: String, _ count: Int) {
        bytes += mark.utf8
        bytes += String(count).utf8
        bytes += [13, 10]
    }
}
