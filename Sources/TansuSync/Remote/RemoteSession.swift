#if TansuSync
import Foundation
import TansuBSON

/// How this side shows a server who it is.
public struct RemoteCredentials: Sendable {
    enum Kind: Sendable {
        case none
        case basic(name: String, password: String)
        case session(name: String, password: String)
        case token(@Sendable () async throws -> String)
        case headers([HTTPField])
    }

    let kind: Kind

    /// Without credentials, or with those in the URL.
    public static let none = RemoteCredentials(kind: .none)

    /// A user and a password with each request (RFC 7617).
    public static func basic(_ name: String, password: String) -> RemoteCredentials {
        RemoteCredentials(kind: .basic(name: name, password: password))
    }

    /// A user and a password once, for a cookie that is renewed when it has expired: `POST /_session`.
    public static func session(_ name: String, password: String) -> RemoteCredentials {
        RemoteCredentials(kind: .session(name: name, password: password))
    }

    /// A bearer token (RFC 6750).
    public static func token(_ token: String) -> RemoteCredentials {
        RemoteCredentials(kind: .token { token })
    }

    /// A bearer token that is asked for when the first one is needed, and again when the server refuses it. When the
    /// closure throws, it is asked again later, as a server that does not answer.
    public static func token(_ make: @escaping @Sendable () async throws -> String) -> RemoteCredentials {
        RemoteCredentials(kind: .token(make))
    }

    /// Headers with each request.
    public static func headers(_ headers: [String: String]) -> RemoteCredentials {
        RemoteCredentials(kind: .headers(headers.sorted { $0.key < $1.key }.map { HTTPField($0.key, $0.value) }))
    }
}

/// The headers that show a server who this side is: made when they are needed, made again when they are refused.
actor RemoteSession {
    private let kind: RemoteCredentials.Kind
    private let server: String
    private let transport: any HTTPTransport
    private var current: [HTTPField]?
    /// How often the headers were made, so that of several requests that are refused at once one makes new ones.
    private(set) var version = 0

    init(_ credentials: RemoteCredentials, _ url: RemoteURL, _ transport: any HTTPTransport) {
        if case .none = credentials.kind, let user = url.user {
            kind = .basic(name: user.name, password: user.password)
        } else {
            kind = credentials.kind
        }
        server = url.server
        self.transport = transport
    }

    /// The headers, and which version of them they are.
    func headers() async throws -> (fields: [HTTPField], version: Int) {
        if let current { return (current, version) }
        let made = try await make()
        for field in made { try Self.validate(field) }
        current = made
        version += 1
        return (made, version)
    }

    /// Refuses what would be retried in vain, or would be another header.
    private static func validate(_ field: HTTPField) throws {
        let isName: (UInt8) -> Bool = { byte in
            let character = Character(UnicodeScalar(byte))
            return byte < 0x7F
                && (character.isLetter || character.isNumber || "!#$%&'*+-.^_`|~".contains(character))
        }
        guard !field.name.isEmpty, field.name.utf8.allSatisfy(isName) else {
            throw SyncError(
                .invalidOptions,
                "The credentials have a header with the name \"\(field.name)\", which is no name of one")
        }
        guard !field.value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7F }) else {
            throw SyncError(
                .invalidOptions,
                "The credentials for the header \"\(field.name)\" have a character that no header has, such as the end of a "
                    + "line; remove it")
        }
    }

    /// Forgets headers that the server refuses.
    ///
    /// - Returns: Whether there may be others.
    func refuse(_ refused: Int) -> Bool {
        switch kind {
        case .none, .basic, .headers: return false
        case .session, .token:
            if refused == version { current = nil }
            return true
        }
    }

    private func make() async throws -> [HTTPField] {
        switch kind {
        case .none: return []
        case .headers(let fields): return fields
        case .basic(let name, let password):
            let encoded = Data("\(name):\(password)".utf8).base64EncodedString()
            return [HTTPField("authorization", "Basic \(encoded)")]
        case .token(let make):
            let token: String
            do { token = try await make() } catch {
                try Task.checkCancellation()
                // Whoever makes tokens needs the network as well, so it may do so later.
                throw RemoteFailure.noAnswer("No token can be made: \(error)")
            }
            return [HTTPField("authorization", "Bearer \(token)")]
        case .session(let name, let password): return [HTTPField("cookie", try await cookie(name, password))]
        }
    }

    private func cookie(_ name: String, _ password: String) async throws -> String {
        var writer = WireJSONWriter()
        writer.value(.document(["name": .string(name), "password": .string(password)]))
        let answer = try await transport.send(
            HTTPCall(
                "POST", server + "/_session", headers: [HTTPField("accept", "application/json")],
                body: .json(writer.finish())))
        guard answer.status == 200 else { throw try await RemoteDatabase.failure(answer) }
        _ = try await answer.body.all(limit: RemoteDatabase.smallAnswer)
        guard let cookie = answer["set-cookie"]?.prefixUntil(";"), !cookie.isEmpty else {
            throw RemoteFailure.invalidAnswer("POST /_session sets no cookie")
        }
        return String(cookie)
    }
}
#endif
