#if TansuServer
    import TansuBSON

    extension ServerOptions {
        /// - Throws: ``ServerError`` with `.invalidOptions` for options that cannot do what they are given for.
        func validate() throws {
            for (name, password) in admins {
                // Basic authentication separates the name from the password by a colon.
                guard !name.isEmpty, !name.utf8.contains(UInt8(ascii: ":")) else {
                    throw ServerError(
                        .invalidOptions, "The name of a server admin is not empty and has no \":\", unlike \"\(name)\"")
                }
                guard !password.isEmpty else {
                    throw ServerError(.invalidOptions, "The server admin \"\(name)\" has an empty password")
                }
            }
            guard let cors else { return }
            guard !cors.origins.isEmpty else {
                throw ServerError(.invalidOptions, "Pages may send credentials, but there are no origins of such pages")
            }
            for origin in cors.origins where !Self.isOrigin(origin) {
                throw ServerError(
                    .invalidOptions, "\"\(origin)\" is no origin, such as https://app.example, nor * for all of them")
            }
        }

        /// Whether a browser can send a text as the origin of a page: scheme, host and port, without a path.
        private static func isOrigin(_ text: String) -> Bool {
            if text == "*" { return true }
            let parts = text.parts(separatedBy: ":", maxSplits: 1)
            guard parts.count == 2, let host = parts[1].dropping(prefix: "//") else { return false }
            return [parts[0], host].allSatisfy { part in
                !part.isEmpty && part.utf8.allSatisfy { $0 > 0x20 && $0 < 0x7F && !Self.separators.contains($0) }
            }
        }

        /// What no origin has; the list of origins has commas.
        private static let separators = Array("/?#,".utf8)
    }
#endif
