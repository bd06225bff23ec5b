#if TansuServer
    import TansuBSON

    /// What a request for changes asks for.
    struct ChangesQuery: Sendable {
        enum Feed: Sendable {
            case normal
            case longpoll
            case continuous
            case eventSource
        }

        /// Where a feed begins.
        enum Start: Sendable {
            case beginning
            case current
            case after(String)
        }

        var feed = Feed.normal
        var isDescending = false
        var start = Start.beginning
        var limit = Int.max
        /// Whether all leaves are listed, not only the winner.
        var listsLeaves = false
        /// nil: none.
        var heartbeat: Duration?
        var timeout = Self.longestWait
        var includesDocuments = false
        var filter = ""
        var parts = RevisionParts()
        var sequenceInterval = 1

        /// The longest time without an answer, and the usual one.
        static let longestWait = Duration.seconds(60)

        init(_ query: QueryParameters, lastEventID: String?) throws {
            for (name, value) in query.items { try read(name.asciiLowercased, value) }
            // A browser that reconnects knows better where it was.
            if feed == .eventSource, let lastEventID { start = try Self.start(lastEventID) }
        }

        private mutating func read(_ name: String, _ value: String) throws {
            switch (name, value) {
            case ("feed", _): feed = try Self.feed(value)
            case ("descending", "true"): isDescending = true
            case ("since", _), ("last-event-id", _): start = try Self.start(value)
            case ("limit", _): limit = try Self.limit(value)
            case ("style", "all_docs"): listsLeaves = true
            case ("style", "main_only"): listsLeaves = false
            case ("style", _): throw HTTPFailure.badRequest("`style` must be `main_only` or `all_docs`.")
            case ("heartbeat", "true"): heartbeat = Self.longestWait
            case ("heartbeat", _): heartbeat = try Self.heartbeat(value)
            case ("timeout", _):
                guard let number = Int(value), number >= 0 else {
                    throw HTTPFailure.badRequest("The timeout value should be an integer (in milliseconds).")
                }
                timeout = min(Self.longestWait, .milliseconds(number))
            case ("include_docs", "true"): includesDocuments = true
            case ("conflicts", "true"): parts.includesConflicts = true
            case ("attachments", "true"): parts.includesAttachments = true
            case ("att_encoding_info", "true"): parts.includesEncoding = true
            case ("filter", _): filter = value
            case ("seq_interval", _):
                guard let number = Int(value), number > 0 else { throw HTTPFailure.badRequest("invalid_seq_interval") }
                sequenceInterval = number
            default: break
            }
        }

        private static func feed(_ text: String) throws -> Feed {
            switch text {
            case "normal": return .normal
            case "longpoll": return .longpoll
            case "continuous", "live": return .continuous
            case "eventsource": return .eventSource
            default:
                throw HTTPFailure.badRequest(
                    "Supported `feed` types: normal, continuous, live, longpoll, eventsource")
            }
        }

        private static func start(_ text: String) throws -> Start {
            switch text {
            case "now": return .current
            case "0": return .beginning
            default: return .after(text)
            }
        }

        /// A negative limit is none.
        private static func limit(_ text: String) throws -> Int {
            guard let number = Int(text) else { throw HTTPFailure.badRequest("`limit` must be an integer.") }
            return number < 0 ? .max : number
        }

        private static func heartbeat(_ text: String) throws -> Duration {
            guard let number = Int(text) else {
                throw HTTPFailure.badRequest(
                    "Invalid heartbeat value. Expecting a positive integer value (in milliseconds).")
            }
            guard number > 0 else {
                throw HTTPFailure.badRequest("The heartbeat value should be a positive integer (in milliseconds).")
            }
            return min(longestWait, .milliseconds(number))
        }
    }
#endif
