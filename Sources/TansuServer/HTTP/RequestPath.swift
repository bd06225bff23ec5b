#if TansuServer
    import TansuBSON

    /// The path of a request by CouchDB's rules: parts between slashes, decoded one by one (so that `%2F` is a slash inside a
    /// part, and `+` a space). Empty parts do not count: `//db//a/` is `db`, `a`.
    package struct RequestPath: Sendable, Equatable {
        /// The path as it was sent, without query and fragment.
        package let raw: String
        /// The decoded parts. The second one of `/db/_design%2Fx` and `/db/_local%2Fx` is two.
        package let parts: [String]
        /// Whether the slash after `_design` was encoded.
        package let hasEncodedDesignSlash: Bool

        package static func == (a: Self, b: Self) -> Bool {
            a.raw == b.raw && a.parts == b.parts && a.hasEncodedDesignSlash == b.hasEncodedDesignSlash
        }

        /// - Parameter path: The path as it was sent, without the query.
        /// - Throws: ``HTTPFailure`` when a part is not UTF-8.
        package init(_ path: String) throws {
            raw = path
            var parts = try path.utf8.split(separator: UInt8(ascii: "/")).map { try percentDecoded($0) }
            hasEncodedDesignSlash = parts.count > 1 && parts[1].hasPrefix("_design/")
            if parts.count > 1 {
                for prefix in ["_design", "_local"] {
                    guard let name = parts[1].dropping(prefix: prefix + "/"), !name.isEmpty else { continue }
                    parts.replaceSubrange(1...1, with: [prefix, name])
                    break
                }
            }
            self.parts = parts
        }
    }
#endif
