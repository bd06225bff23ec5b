#if TansuServer
    import TansuBSON

    /// The settings that `/_node/_local/_config` shows and changes, until the server stops. Their names and values are CouchDB's.
    package final class ServerSettings: Sendable {
        private let values: Locked<[BytewiseText: [BytewiseText: String]]>

        package init(_ options: ServerOptions) {
            let cors = options.cors ?? CrossOriginOptions(origins: ["*"])
            values = Locked([
                "chttpd": ["enable_cors": options.cors == nil ? "false" : "true"],
                "chttpd_auth": ["timeout": String(options.sessionLifetime.components.seconds)],
                "chttpd_auth_lockout": [
                    "mode": options.lockout.isEnforced ? "enforce" : "off",
                    "threshold": String(options.lockout.threshold),
                    "max_lifetime": String(options.lockout.lifetime.components.seconds * 1_000),
                ],
                "cluster": ["n": "1", "q": "1"],
                "cors": [
                    "origins": cors.origins.joined(separator: ", "),
                    "credentials": cors.allowsCredentials ? "true" : "false",
                    "headers": cors.headers.joined(separator: ", "),
                    "methods": cors.methods.joined(separator: ", "),
                ],
                "couchdb": ["max_document_size": String(options.limits.documentBytes)],
            ])
        }

        /// Those that can be changed while the server runs.
        private static let changeable: [BytewiseText: Set<BytewiseText>] = [
            "chttpd": ["enable_cors"], "chttpd_auth_lockout": ["mode"],
            "cors": ["origins", "credentials", "headers", "methods"],
        ]

        package subscript(section: BytewiseText, key: BytewiseText) -> String? { values.withLock { $0[section]?[key] } }

        package var all: [BytewiseText: [BytewiseText: String]] { values.withLock { $0 } }

        /// - Returns: The value before; nil when the setting cannot be changed while the server runs.
        package func set(_ section: BytewiseText, _ key: BytewiseText, to value: String) -> String? {
            guard Self.changeable[section]?.contains(key) == true else { return nil }
            return values.withLock { values in
                defer { values[section, default: [:]][key] = value }
                return values[section]?[key] ?? ""
            }
        }

        package var isLockoutEnforced: Bool { self["chttpd_auth_lockout", "mode"] == "enforce" }

        /// Nil when other origins are refused.
        package var cors: CrossOriginOptions? {
            values.withLock { values in
                guard values["chttpd"]?["enable_cors"] == "true", let section = values["cors"] else { return nil }
                func list(_ key: BytewiseText) -> [String] {
                    (section[key] ?? "").parts(separatedBy: ",").map { $0.trimmingSpaces }.filter { !$0.isEmpty }
                }
                var cors = CrossOriginOptions(origins: list("origins"))
                cors.allowsCredentials = section["credentials"] == "true"
                cors.headers = list("headers")
                cors.methods = list("methods")
                return cors
            }
        }
    }
#endif
