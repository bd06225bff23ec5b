#if TansuServer
    import Logging
    import TansuBSON

    /// How a server listens, whom it lets in, and its limits.
    public struct ServerOptions: Sendable {
        /// The address to listen at: an IP address or a host name. Any but a loopback address needs users.
        public var host: String
        /// The port to listen at; 0 takes a free one.
        public var port: Int
        /// The certificate and the key to speak TLS with; nil speaks plain HTTP.
        public var tls: ServerTLS?
        /// Server admins: names and passwords. Other users are documents in the collection `_users`.
        public var admins: [String: String]
        /// How long a cookie session lasts without a request.
        public var sessionLifetime: Duration
        /// How often PBKDF2 iterates for new passwords.
        public var passwordIterations: Int
        /// What failed logins lead to.
        public var lockout: LoginLockout
        /// A JWK set with the keys of bearer tokens; nil accepts none.
        public var jsonWebKeys: String?
        /// Whether pages of other origins may use the server from a browser; nil refuses all.
        public var cors: CrossOriginOptions?
        /// Whether `/_utils/` has the inspector, a page that shows databases and documents in a browser.
        public var hasInspector: Bool
        /// How much of everything there may be.
        public var limits: ServerLimits
        /// Receives the access log and what goes wrong; nil logs nothing.
        public var logger: Logger?

        /// Creates options.
        ///
        /// - Parameters:
        ///   - host: The address to listen at.
        ///   - port: The port; 0 takes a free one.
        public init(host: String = "127.0.0.1", port: Int = 5984) {
            self.host = host
            self.port = port
            tls = nil
            admins = [:]
            sessionLifetime = .seconds(600)
            passwordIterations = 600_000
            lockout = LoginLockout()
            jsonWebKeys = nil
            cors = nil
            hasInspector = true
            limits = ServerLimits()
            logger = nil
        }

        /// Whether only this machine can reach the address.
        package var isLoopback: Bool {
            host == "localhost" || host == "::1"
                || (host.hasPrefix("127.")
                    && host.utf8.allSatisfy { (0x30...0x39).contains($0) || $0 == UInt8(ascii: ".") })
        }
    }

    /// The files of a server's TLS identity.
    public struct ServerTLS: Sendable, Hashable {
        /// The path of a PEM file with the certificate, and those that lead to its authority.
        public var certificateFile: String
        /// The path of a PEM file with the private key.
        public var keyFile: String

        /// Names the files.
        public init(certificateFile: String, keyFile: String) {
            self.certificateFile = certificateFile
            self.keyFile = keyFile
        }
    }

    /// What failed logins lead to. Each one is answered later than the one before it.
    public struct LoginLockout: Sendable, Hashable {
        /// Whether an account is locked for the address that the failures came from.
        public var isEnforced = true
        /// How many failures lock it.
        public var threshold = 5
        /// How long.
        public var lifetime: Duration = .seconds(300)
        /// How much later a failure is answered for each failure before it, up to ten times this.
        public var delay: Duration = .milliseconds(100)

        /// Creates the default rules.
        public init() {}
    }

    /// What pages of other origins may do in a browser.
    public struct CrossOriginOptions: Sendable, Hashable {
        /// The origins, such as `https://app.example`; `*` is all.
        public var origins: [String]
        /// Whether requests may have cookies and passwords.
        public var allowsCredentials = false
        /// The header fields that requests may have.
        public var headers = ["accept", "authorization", "content-type", "origin", "referer", "x-csrf-token"]
        /// The methods that requests may have.
        public var methods = ["GET", "PUT", "POST", "HEAD", "DELETE"]

        /// Allows some origins.
        public init(origins: [String]) { self.origins = origins }
    }
#endif
