#if TansuServer
import HTTPTypes
import HummingbirdCore
import Tansu
import TansuBSON

/// Who may use the inspector of a database: whoever has the address that it was started with. That works once, and gives the page
/// a secret, which it sends with each request. A cookie would go to every program that listens at this machine's address.
final class Inspection: Sendable {
    /// What the address has; for one use.
    let token = randomHex(byteCount: 16)
    let allowsWriting: Bool
    private let secret = randomHex(byteCount: 16)
    private let isUsed = Locked(false)

    init(allowsWriting: Bool) { self.allowsWriting = allowsWriting }

    /// The secret of the page, if the token is right and nobody has used it before.
    func exchange(_ token: String) -> String? {
        guard isEqualInConstantTime(token.utf8, self.token.utf8) else { return nil }
        return isUsed.withLock { isUsed in
            defer { isUsed = true }
            return isUsed ? nil : secret
        }
    }

    /// Who makes a request.
    func user(_ fields: HTTPFields) -> UserContext {
        guard let given = fields[.authorization]?.dropping(prefix: "Bearer "),
            isEqualInConstantTime(given.utf8, secret.utf8)
        else { return .anonymous }
        return UserContext(name: nil, roles: ["_admin"], authentication: .bearer)
    }
}

extension HTTPFailure {
    static var readOnlyInspection: HTTPFailure { .forbidden("The inspector was started to read only") }
}

/// `/_session` of the inspector of a database: what it may do, and the exchange of the token of its address.
enum InspectionEndpoint {
    static let route = Route(
        "/_session", allow: "GET,POST", access: .everyone, [.get: .init(nil, show), .post: .init(nil, logIn)])

    @Sendable private static func show(_ request: ServerRequest) async throws -> Response {
        guard let inspection = request.server.inspection else { throw HTTPFailure.notFound() }
        let roles = request.user.roles.map { BSONValue.string($0) }
        var answer: BSONDocument = ["ok": true, "userCtx": ["name": .null, "roles": .array(BSONArray(roles))]]
        var facts: BSONDocument = ["writable": .bool(inspection.allowsWriting)]
        if request.user.isServerAdmin { facts["database"] = try await request.database.stats()["path"] ?? "in memory" }
        answer["inspection"] = .document(facts)
        return .json(.document(answer))
    }

    @Sendable private static func logIn(_ request: ServerRequest) async throws -> Response {
        try request.requireJSONContentType()
        guard let token = try await request.jsonObject(upTo: 4096)["token"]?.stringValue,
            let secret = request.server.inspection?.exchange(token)
        else {
            throw HTTPFailure.unauthorized("This address was used before, or is of another inspector: start it again")
        }
        return .json(["ok": true, "secret": .string(secret)])
    }
}

/// The inspector of a database: a page for a browser on this machine, served at an address that lets in once.
///
/// It shows collections, documents, indexes, plans and what takes the space, also of a database that another process writes
/// (``/Tansu/Database/Options/allowWriter``). Nothing is written unless that is allowed. Meant for debug builds of an app:
///
///     #if DEBUG
///     let inspector = try await Inspector.start(database)
///     print(inspector.url)
///     #endif
@available(macOS 14, *)
public final class Inspector: Sendable {
    /// The address to open in a browser. The first one that opens it is let in; for another one, start another inspector.
    public let url: String
    private let running: Task<Void, any Error>

    /// Starts the inspector of a database.
    ///
    /// - Parameters:
    ///   - database: The database, which stays open for as long as the inspector runs.
    ///   - port: The port to listen at; 0 takes a free one. The address is always that of this machine alone.
    ///   - allowsWriting: Whether the page may change documents, indexes and collections.
    ///   - slowCalls: Where the database lists its slow calls, which the page then shows.
    /// - Throws: ``ServerError`` when it cannot listen at the port.
    public static func start(
        _ database: Database, port: Int = 0, allowsWriting: Bool = false, slowCalls: SlowCalls? = nil
    ) async throws -> Inspector {
        let inspection = Inspection(allowsWriting: allowsWriting)
        var options = ServerOptions(port: port)
        options.slowCalls = slowCalls
        let server = TansuServer(
            database: database, options: options, moreRoutes: [], inspection: inspection)
        let running = Task { try await server.run() }
        guard let port = await server.port() else {
            try await running.value
            throw CancellationError()
        }
        return Inspector("http://127.0.0.1:\(port)/_utils/#/open/\(inspection.token)", running)
    }

    private init(_ url: String, _ running: Task<Void, any Error>) {
        self.url = url
        self.running = running
    }

    deinit { running.cancel() }

    /// Stops it. Requests that have begun are finished.
    public func stop() async {
        running.cancel()
        _ = await running.result
    }
}
#endif
