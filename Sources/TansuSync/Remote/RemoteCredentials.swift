#if TansuSync
    /// How this side shows a server who it is.
    public struct RemoteCredentials: Sendable {
        enum Kind: Sendable {
            case none
            case basic(name: String, password: String)
            case session(name: String, password: String)
            case token(@Sendable () async throws -> String)
            case headers([HTTPField])
        }

        let kind: Kind

        /// Without credentials, or with those in the URL.
        public static let none = RemoteCredentials(kind: .none)

        /// A user and a password with each request (RFC 7617).
        public static func basic(_ name: String, password: String) -> RemoteCredentials {
            RemoteCredentials(kind: .basic(name: name, password: password))
        }

        /// A user and a password once, for a cookie that is renewed when it has expired: `POST /_session`.
        public static func session(_ name: String, password: String) -> RemoteCredentials {
            RemoteCredentials(kind: .session(name: name, password: password))
        }

        /// A bearer token (RFC 6750).
        public static func token(_ token: String) -> RemoteCredentials {
            RemoteCredentials(kind: .token { token })
        }

        /// A bearer token that is asked for when the first one is needed, and again when the server refuses it. When the
        /// closure throws, it is asked again later, as a server that does not answer.
        public static func token(_ make: @escaping @Sendable () async throws -> String) -> RemoteCredentials {
            RemoteCredentials(kind: .token(make))
        }

        /// Headers with each request.
        public static func headers(_ headers: [String: String]) -> RemoteCredentials {
            RemoteCredentials(kind: .headers(headers.sorted { $0.key < $1.key }.map { HTTPField($0.key, $0.value) }))
        }
    }
#endif
