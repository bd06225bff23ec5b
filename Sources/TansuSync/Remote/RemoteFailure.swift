#if TansuSync
    import TansuBSON

    /// Why a request failed, and whether it may succeed later.
    package struct RemoteFailure: Error, Sendable {
        package enum Kind: Sendable {
            /// There was no answer, or not all of it.
            case noAnswer
            /// The status says that the request failed.
            case status(Int)
            /// The answer is not what the protocol says.
            case invalidAnswer
            /// The server cannot be trusted, or does not speak TLS.
            case untrusted
        }

        package let kind: Kind
        /// What went wrong.
        package let reason: String
        /// CouchDB's word for the error.
        package var word: String?
        /// After how many seconds the server wants to be asked again.
        package var retryAfter: Double?
        /// The URL of the database.
        package var location = "the server"

        package init(_ kind: Kind, _ reason: String, word: String? = nil, retryAfter: Double? = nil) {
            self.kind = kind
            self.reason = reason
            self.word = word
            self.retryAfter = retryAfter
        }

        package static func noAnswer(_ reason: String) -> RemoteFailure { RemoteFailure(.noAnswer, reason) }

        package static func invalidAnswer(_ reason: String) -> RemoteFailure { RemoteFailure(.invalidAnswer, reason) }

        /// The status; nil when there was none.
        package var status: Int? {
            guard case .status(let status) = kind else { return nil }
            return status
        }

        /// Whether the same request may succeed later.
        package var isTransient: Bool {
            switch kind {
            case .noAnswer: true
            case .status(let status): [408, 425, 429].contains(status) || (status >= 500 && status != 501)
            case .invalidAnswer, .untrusted: false
            }
        }

        /// The error that callers of the library get.
        package var error: ReplicationError {
            switch kind {
            case .noAnswer:
                return ReplicationError(.unreachable, "There is no answer from \(location): \(reason)")
            case .untrusted:
                return ReplicationError(.unreachable, "There is no TLS connection to \(location): \(reason)")
            case .invalidAnswer:
                return ReplicationError(.invalidAnswer, "\(location) does not answer like CouchDB: \(reason)")
            case .status(let status):
                let code: ReplicationError.Code =
                    switch status {
                    case 401: .unauthorized
                    case 403: .forbidden
                    case 404: .noSuchDatabase
                    case _ where isTransient: .unreachable
                    default: .invalidAnswer
                    }
                return ReplicationError(code, "\(location) answers \(status): \(reason)")
            }
        }
    }
#endif
