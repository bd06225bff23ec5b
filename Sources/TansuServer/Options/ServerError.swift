#if TansuServer
    /// Why a server does not start.
    public struct ServerError: Error, Sendable, Hashable, CustomStringConvertible {
        /// The kind of reason.
        public enum Code: Sendable, Hashable {
            /// The address is not a loopback address, and nobody can log in.
            case needsUsers
            /// The name or the password of an admin is invalid, or an origin is none.
            case invalidOptions
            /// A file of the TLS identity cannot be used.
            case invalidTLS
            /// The JWK set of the options is not one.
            case invalidKeys
            /// The address cannot be listened at, for example because another process does.
            case cannotListen
        }

        /// The kind of reason.
        public let code: Code
        /// The reason, for people.
        public let message: String

        /// The reason, for people.
        public var description: String { message }

        init(_ code: Code, _ message: String) {
            self.code = code
            self.message = message
        }
    }
#endif
