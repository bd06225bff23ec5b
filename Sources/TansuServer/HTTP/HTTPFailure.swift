#if TansuServer
import HTTPTypes
import Logging
import Tansu
import TansuBSON
import TansuSync

/// An answer that is an error, rendered as CouchDB does: `{"error":…,"reason":…}`.
struct HTTPFailure: Error, Sendable, Equatable {
    var status: HTTPResponse.Status
    var error: String
    var reason: String
    var headers: HTTPFields

    init(
        _ status: HTTPResponse.Status, _ error: String, _ reason: String, headers: HTTPFields = [:]
    ) {
        self.status = status
        self.error = error
        self.reason = reason
        self.headers = headers
    }
}

extension HTTPFailure {
    /// The body, with the line feed after it.
    var jsonText: String {
        let body: BSONDocument = ["error": .string(error), "reason": .string(reason)]
        return body.extendedJSON(.relaxed) + "\n"
    }

    static func badRequest(_ reason: String) -> HTTPFailure {
        HTTPFailure(.badRequest, "bad_request", reason)
    }

    /// The text is not JSON, or not UTF-8; CouchDB says the same for both.
    static var invalidJSON: HTTPFailure { .badRequest("invalid UTF-8 JSON") }

    static func queryParseError(_ reason: String) -> HTTPFailure {
        HTTPFailure(.badRequest, "query_parse_error", reason)
    }

    static func unauthorized(_ reason: String) -> HTTPFailure {
        HTTPFailure(.unauthorized, "unauthorized", reason)
    }

    static func forbidden(_ reason: String) -> HTTPFailure { HTTPFailure(.forbidden, "forbidden", reason) }

    static func notFound(_ reason: String = "missing") -> HTTPFailure {
        HTTPFailure(.notFound, "not_found", reason)
    }

    static var databaseDoesNotExist: HTTPFailure { .notFound("Database does not exist.") }

    static func methodNotAllowed(_ allow: String) -> HTTPFailure {
        HTTPFailure(.methodNotAllowed, "method_not_allowed", "Only \(allow) allowed", headers: [.allow: allow])
    }

    static func conflict(_ reason: String = "Document update conflict.") -> HTTPFailure {
        HTTPFailure(.conflict, "conflict", reason)
    }

    static func badContentType(_ reason: String) -> HTTPFailure {
        HTTPFailure(.unsupportedMediaType, "bad_content_type", reason)
    }

    static var attachmentTooLarge: HTTPFailure {
        .tooLarge("attachment_too_large", "The attachment is too large")
    }

    /// A whole request, a document, an attachment or a batch is larger than the limits allow.
    static func tooLarge(
        _ error: String = "too_large", _ reason: String = "the request entity is too large"
    ) -> HTTPFailure {
        HTTPFailure(.contentTooLarge, error, reason)
    }

    static func notImplemented(_ reason: String) -> HTTPFailure {
        HTTPFailure(.notImplemented, "not_implemented", reason)
    }

    /// The server cannot take the request now; the client may try again after some seconds.
    static func overloaded(_ reason: String, retryAfter seconds: Int = 5) -> HTTPFailure {
        HTTPFailure(.serviceUnavailable, "service_unavailable", reason, headers: [.retryAfter: String(seconds)])
    }
}

// MARK: - Rendering

extension HTTPFailure {
    /// The answer for any error that an endpoint has thrown. The client gets only what is about the request itself; the
    /// log gets the rest.
    init(rendering error: any Error, logger: Logger?) {
        if let failure = error as? HTTPFailure {
            self = failure
        } else if let error = error as? TansuError, error.isOfAttachment, error.code == .invalidArgument {
            self = .badRequest(error.message)
        } else if let error = error as? TansuError, error.isOfAttachment, error.code == .tooLarge {
            self = .attachmentTooLarge
        } else if error is CancellationError {
            self = .overloaded("The server is stopping")
        } else {
            logger?.error("A request has failed", metadata: ["error": "\(error)"])
            self.init(.internalServerError, "internal_server_error", "The request could not be served; see the log")
        }
    }
}
#endif
