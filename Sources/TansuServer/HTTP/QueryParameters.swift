#if TansuServer
    import TansuBSON

    /// The query of a request: names and values in their order, decoded; `&` or `;` is between them. Reading a value as a type throws CouchDB's errors.
    package struct QueryParameters: Sendable {
        package let items: [(name: String, value: String)]

        /// - Parameter query: The text after the `?`, without a fragment.
        /// - Throws: ``HTTPFailure`` when it is not UTF-8.
        package init(_ query: String) throws {
            items = try query.utf8.split(whereSeparator: { $0 == UInt8(ascii: "&") || $0 == UInt8(ascii: ";") }).map {
                item in
                let parts = item.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
                return (try percentDecoded(parts[0]), parts.count > 1 ? try percentDecoded(parts[1]) : "")
            }
        }

        /// The first value of a name.
        package subscript(name: String) -> String? { items.first { $0.name == name }?.value }

        package func contains(_ name: String) -> Bool { items.contains { $0.name == name } }

        /// `true` or `false`; nil when the name is missing.
        package func bool(_ name: String) throws -> Bool? {
            switch self[name] {
            case nil: nil
            case "true": true
            case "false": false
            case let value?: throw HTTPFailure.queryParseError("Invalid boolean parameter: \(Self.quoted(value))")
            }
        }

        package func integer(_ name: String) throws -> Int? {
            guard let value = self[name] else { return nil }
            guard let number = Int(value) else {
                throw HTTPFailure.queryParseError("Invalid value for integer: \(Self.quoted(value))")
            }
            return number
        }

        /// An integer that is not negative; CouchDB calls that positive.
        package func positiveInteger(_ name: String) throws -> Int? {
            guard let number = try integer(name) else { return nil }
            guard number >= 0 else {
                throw HTTPFailure.queryParseError(
                    "Invalid value for positive integer: \(Self.quoted(self[name] ?? ""))")
            }
            return number
        }

        /// A value that is JSON text.
        package func json(_ name: String) throws -> BSONValue? {
            guard let value = self[name] else { return nil }
            do {
                return try BSONValue(plainJSON: value)
            } catch {
                throw HTTPFailure.invalidJSON
            }
        }

        private static func quoted(_ text: String) -> String { BSONValue.string(text).extendedJSON() }
    }
#endif
