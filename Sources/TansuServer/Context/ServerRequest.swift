#if TansuServer
import HTTPTypes
import HummingbirdCore
import Logging
import NIOCore
import Tansu
import TansuBSON
import TansuSync

/// A request with all that an endpoint needs to answer it.
struct ServerRequest: Sendable {
    let server: ServerContext
    let head: HTTPRequest
    let path: RequestPath
    let query: QueryParameters
    /// The body as it arrives: reading waits for the client, and the client waits for the reader.
    let body: RequestBody
    /// The connection.
    let channel: any Channel
    /// The length of the body that the client has announced; nil for a chunked body.
    let contentLength: Int?
    var logger: Logger
    var user = UserContext.anonymous
    /// What the route's `:name` parts stand for, decoded.
    var parameters: [BytewiseText: String] = [:]
    /// The decoded parts that the route's `*` stands for.
    var rest: [String] = []

    /// - Throws: ``HTTPFailure`` when path or query are not UTF-8.
    init(server: ServerContext, request: Request, channel: any Channel, logger: Logger) throws {
        self.server = server
        self.channel = channel
        self.logger = logger
        head = request.head
        body = request.body
        method = Self.method(request.head)
        contentLength = request.head.headerFields[.contentLength].flatMap { Int($0) }
        let target = (request.head.path ?? "/").prefixUntil("#").parts(separatedBy: "?", maxSplits: 1)
        path = try RequestPath(target[0])
        query = try QueryParameters(target.count > 1 ? target[1] : "")
    }

    /// That of the request, or what a POST gives in `X-HTTP-Method-Override`, for clients that can only GET and POST.
    let method: HTTPRequest.Method
    var database: Database { server.database }
    var limits: ServerLimits { server.settings.limits }

    /// The address of the client, without the port.
    var peer: String { channel.remoteAddress?.ipAddress ?? "" }

    private static let overridable: Set<BytewiseText> = [
        "GET", "HEAD", "POST", "PUT", "DELETE", "TRACE", "CONNECT", "COPY",
    ]

    private static func method(_ head: HTTPRequest) -> HTTPRequest.Method {
        guard head.method == .post, let name = head.headerFields[.methodOverride],
            overridable.contains(BytewiseText(name))
        else {
            return head.method
        }
        return HTTPRequest.Method(name) ?? head.method
    }

    /// The part of the path that the route calls `:db`.
    var databaseName: String { parameters["db"] ?? "" }

    subscript(name: HTTPTypes.HTTPField.Name) -> String? { head.headerFields[name] }

    /// The URL of a path on this server as the client calls it, for `Location`.
    func url(_ path: String) -> String {
        "\(head.scheme ?? "http")://\(head.authority ?? server.options.host)\(path)"
    }

    /// The header field of a session, or the one that ends it if the text is empty.
    func sessionCookie(_ text: String) -> String {
        SessionCookie.field(
            text, lifetime: server.options.sessionLifetime, isSecure: head.scheme == "https",
            isShared: server.settings.cors?.allowsCredentials == true)
    }

    /// Who may use the database of the request.
    func security() throws -> SecurityObject { try server.security(of: databaseName) }
}

// MARK: - Body

extension ServerRequest {
    /// The whole body.
    ///
    /// - Parameter limit: The most bytes; the limit of the server when nil.
    /// - Throws: ``HTTPFailure`` with 413 when it is larger, which is known before anything is read if the client
    ///   has announced its length.
    func collectedBody(upTo limit: Int? = nil) async throws -> ByteBuffer {
        let limit = limit ?? limits.requestBytes
        if let length = contentLength, length > limit { throw HTTPFailure.tooLarge() }
        switch self[.contentEncoding]?.trimmingSpaces.asciiLowercased ?? "identity" {
        case "identity", "": return try await plainBody(limit)
        case "gzip": return try await decompressedBody(limit)
        case let encoding:
            throw HTTPFailure.badContentType("\(encoding) is not a supported content encoding.")
        }
    }

    private func plainBody(_ limit: Int) async throws -> ByteBuffer {
        var collected = ByteBuffer()
        for try await part in body {
            guard collected.readableBytes + part.readableBytes <= limit else { throw HTTPFailure.tooLarge() }
            if collected.readableBytes == 0 { collected = part } else { collected.writeImmutableBuffer(part) }
        }
        return collected
    }

    /// The limit is that of the decompressed bytes, so that few bytes cannot become many.
    private func decompressedBody(_ limit: Int) async throws -> ByteBuffer {
        let malformed = HTTPFailure.badRequest("Request body is not properly gzipped.")
        let stream = try GzipStream(compressing: false)
        var collected = ByteBuffer()
        for try await var part in body {
            while let piece = part.readBytes(length: min(part.readableBytes, 64 << 10)), !piece.isEmpty {
                stream.feed(piece)
                do {
                    while let bytes = try stream.pull() {
                        guard collected.readableBytes + bytes.count <= limit else { throw HTTPFailure.tooLarge() }
                        collected.writeBytes(bytes)
                    }
                } catch let error as TansuError where error.code == .invalidArgument {
                    throw malformed
                }
            }
        }
        guard stream.isAtEnd else { throw malformed }
        return collected
    }

    /// The body as plain JSON, in which `$…` members mean nothing.
    func json(upTo limit: Int? = nil) async throws -> BSONValue {
        let bytes = try await collectedBody(upTo: limit)
        do {
            return try BSONValue(plainJSON: bytes.readableBytesView)
        } catch {
            throw HTTPFailure.invalidJSON
        }
    }

    /// The body as a JSON object.
    func jsonObject(upTo limit: Int? = nil) async throws -> BSONDocument {
        guard case .document(let document) = try await json(upTo: limit) else {
            throw HTTPFailure.badRequest("Request body must be a JSON object")
        }
        return document
    }

    /// The body as a JSON object whose keys are ids of documents.
    func jsonMembers() async throws -> [(key: String, value: BSONValue)] {
        let bytes = Array(try await collectedBody().readableBytesView)
        let members: [(key: String, value: BSONValue)]?
        do { members = try WireObject.members(json: bytes) } catch { throw HTTPFailure.invalidJSON }
        guard let members else { throw HTTPFailure.badRequest("Request body must be a JSON object") }
        return members
    }

    /// - Throws: ``HTTPFailure`` with 415 unless the body is announced as JSON.
    func requireJSONContentType() throws {
        guard mediaType == "application/json" else {
            throw HTTPFailure.badContentType("Content-Type must be application/json")
        }
    }

    /// The media type of the body in lower case, without parameters.
    var mediaType: String? {
        head.headerFields[.contentType].map { type in
            type.prefixUntil(";").trimmingSpaces.asciiLowercased
        }
    }
}

// MARK: - Users

// Documents of the database `_users` are accounts: who may write and read them, and how passwords are stored.
extension ServerRequest {
    /// Whether the database of the request is that of the accounts.
    var isUsersDatabase: Bool { databaseName == AccountRules.collection }

    /// What is stored of a document that a client sends, with the hash of the password instead of the password. Documents
    /// of other databases, and those that are no accounts, stay as they are.
    ///
    /// - Parameter fields: Without those that begin with an underscore.
    /// - Throws: ``HTTPFailure`` with 403 for a document that is no account, 404 for that of somebody else.
    func storedFields(_ fields: BSONDocument, id: String, isDeleted: Bool = false) async throws
        -> BSONDocument
    {
        guard AccountRules.apply(to: id, in: databaseName) else { return fields }
        let isAdmin = try security().isAdmin(user)
        guard isAdmin || isOwn(id) else { throw HTTPFailure.notFound() }
        if isDeleted { return fields }
        var roles: [String]?
        if !isAdmin {
            let stored = try await database.collection(databaseName).get(id)
            roles = stored?["roles"]?.arrayValue?.compactMap(\.stringValue) ?? []
        }
        if let reason = AccountRules.refusal(of: fields, id: id, formerRoles: roles) {
            throw HTTPFailure.forbidden(reason)
        }
        guard let password = fields["password"], !password.isNull else { return fields }
        guard let password = password.stringValue else { throw HTTPFailure.forbidden("Password must be a string.") }
        let hash = try await server.authenticator.passwords.hash(
            password, iterations: server.options.passwordIterations)
        return hash.stored(in: fields)
    }

    /// - Throws: ``HTTPFailure`` with 404 when the document is the account of somebody else.
    func checkReading(_ id: String) throws {
        guard isUsersDatabase, !id.hasPrefix("_local/") else { return }
        guard try security().isAdmin(user) || isOwn(id) else { throw HTTPFailure.notFound() }
    }

    private func isOwn(_ id: String) -> Bool { user.name.map { id == AccountRules.idPrefix + $0 } ?? false }
}
#endif
