#if HTTPServers
    extension HTTPServer {
        /// The names and values of a query, in order, with percent escapes decoded and each `+` as a space.
        ///
        /// A name without a value has an empty value. The case of names counts: `a` and `A` are two names.
        ///
        /// > Thread safety: a value.
        public struct Query: RandomAccessCollection, Sendable {
            private let pairs: [(name: String, value: String)]

            init(_ pairs: [(name: String, value: String)]) { self.pairs = pairs }

            /// The position of the first name, if there is one.
            public var startIndex: Int { 0 }

            /// The position behind the last name.
            public var endIndex: Int { pairs.count }

            /// The name and the value at a position.
            ///
            /// - Parameter position: The position.
            public subscript(position: Int) -> (name: String, value: String) { pairs[position] }

            /// The first value of a name; nil if the query does not have the name.
            ///
            /// - Parameter name: The name.
            public subscript(name: String) -> String? { pairs.first { $0.name == name }?.value }

            /// Returns all values of a name, in order.
            ///
            /// - Parameter name: The name.
            /// - Returns: The values.
            public func values(of name: String) -> [String] { pairs.filter { $0.name == name }.map(\.value) }
        }
    }

    extension HTTPServer.Query: Hashable {
        /// True if both queries have the same names and values in the same order.
        ///
        /// - Parameters:
        ///   - left: A query.
        ///   - right: The other query.
        /// - Returns: True if they are.
        public static func == (left: Self, right: Self) -> Bool {
            left.elementsEqual(right) { $0.name == $1.name && $0.value == $1.value }
        }

        /// Hashes the names and the values.
        ///
        /// - Parameter hasher: The hasher.
        public func hash(into hasher: inout Hasher) {
            for (name, value) in pairs {
                hasher.combine(name)
                hasher.combine(value)
            }
        }
    }
#endif
