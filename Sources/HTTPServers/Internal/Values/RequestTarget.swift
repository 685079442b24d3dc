#if HTTPServers
    /// The parsing of a request's target into an authority, a path, its segments, and a query.
    enum RequestTarget {
        /// A form of target, as RFC 9112 names them.
        enum Form: Equatable {
            /// A path and a query, such as `/a?b=c`.
            case origin
            /// A URL, such as `http://example.org/a?b=c`; `authority` is its host and port.
            case absolute(authority: Substring)
            /// `*`, for the server as a whole.
            case asterisk
        }

        /// Returns the form of a target; nil if it is none that a server accepts.
        static func form(of target: String) -> Form? {
            // A byte that is not ASCII would arrive as another one, and a fragment is not a part of a request.
            if !target.utf8.allSatisfy({ (0x21...0x7e).contains($0) && $0 != UInt8(ascii: "#") }) {
                return nil
            }
            if target.utf8.first == UInt8(ascii: "/") { return .origin }
            if target == "*" { return .asterisk }
            guard let authority = authority(of: target), !authority.isEmpty else { return nil }
            return .absolute(authority: authority)
        }

        /// The host and port of a target in absolute form; nil for other targets.
        static func authority(of target: String) -> Substring? {
            guard let rest = withoutScheme(target) else { return nil }
            return rest.prefix { $0 != "/" && $0 != "?" }
        }

        /// What follows `http://` or `https://`; nil if the target begins with neither.
        private static func withoutScheme(_ target: String) -> Substring? {
            for scheme in ["http://", "https://"] where target.utf8.count >= scheme.utf8.count {
                let end = target.utf8.index(target.startIndex, offsetBy: scheme.utf8.count)
                if FieldText.areEqual(target.utf8[..<end], scheme.utf8) { return target[end...] }
            }
            return nil
        }

        /// The path and the query of a target, without the scheme and the host of an absolute form.
        private static func local(_ target: String) -> Substring {
            guard let rest = withoutScheme(target) else { return target[...] }
            return rest.drop { $0 != "/" && $0 != "?" }
        }

        static func path(of target: String) -> Substring {
            let path = local(target).prefix { $0 != "?" }
            return path.isEmpty && withoutScheme(target) != nil ? "/" : path
        }

        static func segments(of target: String) -> [String] {
            let path = path(of: target)
            let parts = path.split(separator: "/", omittingEmptySubsequences: false)
            return (path.hasPrefix("/") ? parts.dropFirst() : parts[...]).map {
                decoded($0, plusIsSpace: false)
            }
        }

        static func query(of target: String) -> [(name: String, value: String)] {
            let local = local(target)
            guard let mark = local.firstIndex(of: "?") else { return [] }
            return local[local.index(after: mark)...].split(separator: "&").map { part in
                let name = part.prefix { $0 != "=" }
                return (
                    decoded(name, plusIsSpace: true),
                    decoded(part.dropFirst(name.count + 1), plusIsSpace: true)
                )
            }
        }

        /// Returns a text with its percent escapes decoded.
        ///
        /// A percent sign that is not followed by two hexadecimal digits is kept.
        static func decoded(_ text: Substring, plusIsSpace: Bool) -> String {
            if !text.utf8.contains(where: { $0 == UInt8(ascii: "%") || $0 == UInt8(ascii: "+") }) {
                return String(text)
            }
            var bytes: [UInt8] = []
            let letters = Array(text.utf8)
            var index = 0
            while index < letters.count {
                var letter = letters[index]
                index += 1
                if letter == UInt8(ascii: "+") && plusIsSpace {
                    letter = UInt8(ascii: " ")
                } else if letter == UInt8(ascii: "%"), index + 1 < letters.count,
                    let high = digit(letters[index]), let low = digit(letters[index + 1])
                {
                    letter = high << 4 | low
                    index += 2
                }
                bytes.append(letter)
            }
            return String(decoding: bytes, as: UTF8.self)
        }

        private static func digit(_ letter: UInt8) -> UInt8? {
            switch letter {
            case UInt8(ascii: "0")...UInt8(ascii: "9"): letter - UInt8(ascii: "0")
            case UInt8(ascii: "a")...UInt8(ascii: "f"): letter - UInt8(ascii: "a") + 10
            case UInt8(ascii: "A")...UInt8(ascii: "F"): letter - UInt8(ascii: "A") + 10
            default: nil
            }
        }
    }
#endif
