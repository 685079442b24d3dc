#if HTTPServers
    internal import HTTPTypes

    extension HTTPServer {
        /// Returns the header of a response.
        ///
        /// - Parameters:
        ///   - status: The status.
        ///   - fields: The fields of the program.
        ///   - length: What is said about the length of the body.
        ///   - connection: The value of `Connection`; nil for none.
        /// - Returns: The bytes, with the blank line.
        func head(
            _ status: HTTPResponse.Status, _ fields: HTTPFields, _ length: StatedLength, connection: String?
        ) -> [UInt8] {
            var bytes: [UInt8] = []
            bytes.reserveCapacity(256)
            bytes += "HTTP/1.1 \(status.code) \(ResponseRules.phrase(status))\r\nDate: ".utf8
            bytes += date.now().utf8
            switch length {
            case .counted(let count): bytes += "\r\nContent-Length: \(count)\r\n".utf8
            case .chunked: bytes += "\r\nTransfer-Encoding: chunked\r\n".utf8
            case .none: bytes += "\r\n".utf8
            }
            if let connection { bytes += "Connection: \(connection)\r\n".utf8 }
            for field in fields {
                bytes += field.name.rawName.utf8
                bytes += ": ".utf8
                // Safe: the bytes are copied during the call.
                unsafe field.withUnsafeBytesOfValue { unsafe bytes.append(contentsOf: $0) }
                bytes += "\r\n".utf8
            }
            bytes += "\r\n".utf8
            return bytes
        }
    }
#endif
