#if TansuServer
    import Logging

    /// How a server listens, whom it lets in, and its limits.
    public struct ServerOptions: Sendable {
        /// The address to listen at: an IP address or a host name.
        public var host: String
        /// The port to listen at; 0 takes a free one.
        public var port: Int
        /// Server admins: names and passwords.
        public var admins: [String: String]
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
            admins = [:]
            limits = ServerLimits()
            logger = nil
        }
    }
#endif
