#if TansuServer
    /// Limits of a server. What exceeds one gets an answer that says so.
    public struct ServerLimits: Sendable, Hashable {
        /// Bytes of a request's body: 413.
        public var requestBytes = 64 << 20
        /// Bytes of a document's JSON text: 413.
        public var documentBytes = 8_000_000
        /// Bytes of an attachment: 413.
        public var attachmentBytes = 1 << 30
        /// Documents in a batch: 413.
        public var batchDocuments = 100_000
        /// Bytes of a request's head: 431.
        public var headBytes = 64 << 10
        /// Connections: the next one gets 503.
        public var connections = 4_096
        /// Open feeds (`_changes` that wait): the next one gets 503.
        public var feeds = 2_048
        /// The time that a client has for the head of a request, and for each further part of its body: 408.
        public var readTimeout: Duration = .seconds(30)
        /// Connections without a request for this long are closed.
        public var idleTimeout: Duration = .seconds(120)
        /// The time that requests and feeds have to end when the server stops.
        public var shutdownTimeout: Duration = .seconds(10)

        /// Creates the default limits.
        public init() {}
    }
#endif
