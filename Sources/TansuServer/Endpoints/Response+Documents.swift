#if TansuServer
import Crypto
import Foundation
import HTTPTypes
import HummingbirdCore
import NIOCore
import TansuBSON
import TansuSync

extension Response {
    /// A JSON answer whose bytes exist already. A line feed follows them, as in CouchDB.
    static func json(
        bytes: [UInt8], status: HTTPResponse.Status = .ok, headers: HTTPFields = [:]
    ) -> Response {
        var buffer = ByteBuffer()
        buffer.reserveCapacity(bytes.count + 1)
        buffer.writeBytes(bytes)
        buffer.writeInteger(UInt8(ascii: "\n"))
        return .json(buffer: buffer, status: status, headers: headers)
    }

    /// What CouchDB answers when a document was saved.
    static func saved(
        _ id: String, _ revision: some CustomStringConvertible, status: HTTPResponse.Status = .created,
        headers: HTTPFields = [:]
    ) -> Response {
        let body: BSONDocument = ["ok": true, "id": .string(id), "rev": .string("\(revision)")]
        return .json(.document(body), status: status, headers: headers)
    }
}

/// Quoted entity tags.
enum EntityTag {
    /// That of a document.
    static func of(revision: some CustomStringConvertible) -> String { "\"\(revision)\"" }

    /// That of anything else: a digest of what determines the answer.
    static func of(_ parts: String...) -> String { "\"" + digest(parts.joined(separator: "\0")) + "\"" }

    /// 32 hex digits that stand for a text.
    static func digest(_ text: String) -> String {
        hex(Array(Insecure.MD5.hash(data: Data(text.utf8))))
    }
}

// MARK: - HTTPFailure: documents

extension HTTPFailure {
    /// What a client sent cannot be taken.
    init(_ error: WireError) {
        let status: HTTPResponse.Status = error.code == .notImplemented ? .expectationFailed : .badRequest
        self.init(status, error.code.rawValue, error.reason)
    }

    /// A query cannot be answered.
    init(_ error: Mango.QueryError) {
        self.init(HTTPResponse.Status(code: error.status), error.name, error.reason)
    }

    /// A document cannot be saved.
    init(_ error: DocumentError, _ id: String) {
        switch error {
        case .conflict: self = .conflict()
        case .refused(let reason): self = .forbidden(reason)
        case .missingStub(let name):
            self.init(
                .preconditionFailed, "missing_stub", "Invalid attachment stub in \(id) for \(name)")
        }
    }

    /// The revision does not exist or no more.
    static var revisionMissing: HTTPFailure { HTTPFailure(.conflict, "not_found", "missing_rev") }

    /// The document is a tombstone.
    static var deleted: HTTPFailure { .notFound("deleted") }
}

extension Route {
    /// This, with errors of reading and storing documents as answers.
    var answeringErrors: Route {
        Route(
            pattern, allow: allow, access: access,
            methods.mapValues { method in
                Endpoint(method.access) { try await HTTPFailure.answering(method.handler, $0) }
            })
    }
}

extension HTTPFailure {
    fileprivate static func answering(_ handler: Route.Handler, _ request: ServerRequest) async throws -> Response {
        do {
            try request.checkWholeDatabase()
            return try await handler(request)
        } catch let error as WireError {
            throw HTTPFailure(error)
        } catch let error as Mango.QueryError {
            throw HTTPFailure(error)
        } catch let error as SyncError where error.code == .notReplicated {
            throw HTTPFailure.databaseDoesNotExist
        } catch let error as SyncError where error.code != .corrupt && !error.isOfAttachment {
            throw HTTPFailure(.badRequest, "not_replicable", error.description)
        }
    }
}
#endif
