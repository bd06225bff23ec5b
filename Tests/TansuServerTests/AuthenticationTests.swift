#if TansuServer
import Crypto
import Foundation
import HTTPTypes
import Tansu
import TansuBSON
import Testing
@testable import TansuServer

/// Who is let in where.
@Suite struct AuthenticationTests {
    static let key = P256.Signing.PrivateKey()

    static var options: ServerOptions {
        var options = ServerOptions(port: 0)
        options.admins = ["admin": "secret: with a colon"]
        options.passwordIterations = 1_000
        options.lockout.delay = .zero
        options.lockout.isEnforced = false
        let point = Array(key.publicKey.rawRepresentation)
        let (x, y) = (Base64URL.encode(point.prefix(32)), Base64URL.encode(point.suffix(32)))
        options.jsonWebKeys =
            #"{"keys":[{"kty":"EC","crv":"P-256","alg":"ES256","kid":"a","x":"\#(x)","y":"\#(y)"}]}"#
        return options
    }

    /// A database with the user jan, and the collections db1 (of jan), open (of everyone) and closed (of nobody).
    static func database() throws -> Database {
        let database = try Database(.memory)
        var user: BSONDocument = [
            "_id": "org.couchdb.user:jan", "name": "jan", "type": "user", "roles": .array(["dev", "_admin"]),
        ]
        for (key, value) in try PasswordHash(password: "apple", iterations: 1_000).members { user[key] = value }
        try database.collection("_users").save(user)
        for name in ["db1", "open", "closed"] { try database.ensureCollection(name) }
        try database.collection("tansu.sync").save([
            "_id": "db1", "security": .document(["members": .document(["names": .array(["jan"])])]),
        ])
        try database.collection("tansu.sync").save(["_id": "open", "security": .document(["members": [:]])])
        return database
    }

    static let routes = [
        Route("/:db/test", allow: "GET", [.get: .init { _ in .ok() }]),
        Route("/:db/manage", allow: "GET", access: .databaseAdmin, [.get: .init { _ in .ok() }]),
    ]

    private static let header = #"{"alg":"ES256","typ":"JWT","kid":"a"}"#

    private static func token(
        _ claims: String, header: String = header, sign: (String) throws -> [UInt8] = signature(key)
    ) throws -> String {
        let text = "\(Base64URL.encode(Array(header.utf8))).\(Base64URL.encode(Array(claims.utf8)))"
        return try "\(text).\(Base64URL.encode(sign(text)))"
    }

    private static func signature(_ key: P256.Signing.PrivateKey) -> (String) throws -> [UInt8] {
        { Array(try key.signature(for: Data($0.utf8)).rawRepresentation) }
    }

    enum Credentials: String, CaseIterable, Sendable {
        case none, emptyBasic, noColon, wrongPassword, wrongName, user, admin, forgedCookie, expiredCookie,
            userCookie
        case adminCookie, userToken, adminToken, expiredToken, forgedToken, unsignedToken, endlessToken,
            confusedToken

        func headers(_ authenticator: Authenticator) throws -> [String: String] {
            func basic(_ text: String) -> [String: String] {
                ["Authorization": "Basic \(Data(text.utf8).base64EncodedString())"]
            }
            func cookie(_ text: String) -> [String: String] { ["Cookie": "a=b; AuthSession=\(text); c=d"] }
            func admins(_ end: Int) -> String { #"{"sub":"a","exp":\#(end),"_couchdb.roles":["_admin"]}"# }
            func bearer(_ text: String) -> [String: String] { ["Authorization": "Bearer \(text)"] }
            let user = try #require(try authenticator.accounts.account("jan"))
            let admin = try #require(try authenticator.accounts.account("admin"))
            let now = Int(Date().timeIntervalSince1970)
            switch self {
            case .none: return [:]
            case .emptyBasic: return basic(":")
            case .noColon: return basic("admin")
            case .wrongPassword: return basic("jan:Apple")
            case .wrongName: return basic("nobody:apple")
            case .user: return basic("jan:apple")
            case .admin: return basic("admin:secret: with a colon")
            case .forgedCookie:
                return cookie(SessionCookie(user: "admin", salt: admin.salt, secret: randomBytes(32)).text)
            case .expiredCookie:
                let past = Date(timeIntervalSinceNow: -601)
                return cookie(
                    SessionCookie(user: "admin", salt: admin.salt, secret: authenticator.secret, now: past).text)
            case .userCookie: return cookie(authenticator.cookie(for: user))
            case .adminCookie: return cookie(authenticator.cookie(for: admin))
            case .userToken:
                return try bearer(token(#"{"sub":"jan","exp":\#(now + 3_600),"_couchdb.roles":["dev"]}"#))
            case .adminToken: return try bearer(token(admins(now + 3_600)))
            case .expiredToken: return try bearer(token(admins(now - 60)))
            case .forgedToken:
                return try bearer(token(admins(now + 3_600), sign: signature(P256.Signing.PrivateKey())))
            case .unsignedToken:
                return try bearer(token(admins(now + 3_600), header: #"{"alg":"none","kid":"a"}"#) { _ in [] })
            case .endlessToken: return try bearer(token(#"{"sub":"a","_couchdb.roles":["_admin"]}"#))
            case .confusedToken:
                // The public key as the secret of a symmetric signature.
                let secret = Array(AuthenticationTests.key.publicKey.pemRepresentation.utf8)
                return try bearer(
                    token(admins(now + 3_600), header: #"{"alg":"HS256","kid":"a"}"#) { hmac($0, key: secret) })
            }
        }

        /// Who that is; nil for credentials that are refused wherever they are used.
        var user: (name: String?, isAdmin: Bool)? {
            switch self {
            case .none, .noColon, .forgedCookie, .expiredCookie: (nil, false)
            case .user, .userCookie, .userToken: ("jan", false)
            case .admin, .adminCookie, .adminToken: ("admin", true)
            case .emptyBasic, .wrongPassword, .wrongName, .expiredToken, .forgedToken, .unsignedToken,
                .endlessToken, .confusedToken:
                nil
            }
        }
    }

    /// The status for somebody unknown, for jan, and for an admin.
    static let endpoints: [(method: String, path: String, unknown: Int, user: Int, admin: Int)] = [
        ("GET", "/", 200, 200, 200), ("HEAD", "/", 200, 200, 200), ("GET", "/_up", 200, 200, 200),
        ("GET", "/_uuids?count=2", 200, 200, 200), ("GET", "/_session", 200, 200, 200),
        ("DELETE", "/_session", 200, 200, 200), ("PUT", "/_session", 405, 405, 405),
        ("GET", "/favicon.ico", 404, 404, 404), ("GET", "/_all_dbs", 401, 401, 200),
        ("POST", "/_all_dbs", 401, 401, 405), ("GET", "/_active_tasks", 401, 401, 200),
        ("GET", "/_membership", 401, 401, 200), ("GET", "/_metrics", 401, 401, 200),
        ("GET", "/_scheduler/jobs", 401, 401, 200), ("GET", "/_scheduler/docs", 401, 401, 200),
        ("GET", "/_node/_local", 401, 401, 200), ("GET", "/_node/_local/_versions", 401, 401, 200),
        ("GET", "/_node/_local/_config", 401, 401, 200), ("GET", "/_node/_local/_config/cors", 401, 401, 200),
        ("GET", "/_node/_local/_config/cors/origins", 401, 401, 200),
        ("DELETE", "/_node/_local/_config/cors/origins", 401, 401, 403),
        ("GET", "/db1/test", 401, 200, 200), ("GET", "/open/test", 200, 200, 200),
        ("GET", "/closed/test", 401, 403, 200),
        ("GET", "/db1/manage", 401, 403, 200), ("GET", "/open/manage", 401, 403, 200),
        ("GET", "/_users/test", 401, 403, 200), ("GET", "/nowhere/test", 404, 404, 404),
        ("GET", "/_nowhere/test", 401, 401, 404), ("GET", "/tansu.sync/test", 404, 404, 404),
        ("GET", "/tansu.server/test", 404, 404, 404),
    ]

    @Test(arguments: Credentials.allCases) @available(macOS 14, *)
    func eachEndpointLetsInWhomItShould(_ credentials: Credentials) async throws {
        try await RunningServer.run(Self.database(), options: Self.options, moreRoutes: Self.routes) { server in
            let authenticator = try #require(server.server.context).authenticator
            let headers = try credentials.headers(authenticator)
            for endpoint in Self.endpoints {
                let expected =
                    switch credentials.user {
                    case nil: 401
                    case let user? where user.isAdmin: endpoint.admin
                    case let user?: user.name == nil ? endpoint.unknown : endpoint.user
                    }
                let answer = try await server.answer(endpoint.method, endpoint.path, headers)
                #expect(answer.status == expected, "\(credentials) \(endpoint.method) \(endpoint.path)")
            }
        }
    }

    @Test @available(macOS 14, *) func everyByteOfACookieCounts() async throws {
        try await RunningServer.run(Self.database(), options: Self.options) { server in
            let authenticator = try #require(server.server.context).authenticator
            let account = try #require(try authenticator.accounts.account("jan"))
            let right = Array(authenticator.cookie(for: account).utf8)
            for index in right.indices {
                var wrong = right
                wrong[index] = wrong[index] == UInt8(ascii: "A") ? UInt8(ascii: "B") : UInt8(ascii: "A")
                // The last digits of base64 have bits that mean nothing.
                if Base64URL.decode(String(decoding: wrong, as: UTF8.self))
                    == Base64URL.decode(String(decoding: right, as: UTF8.self))
                {
                    continue
                }
                let fields: HTTPFields = [.cookie: "AuthSession=\(String(decoding: wrong, as: UTF8.self))"]
                let result = try? await authenticator.authenticate(fields, from: "")
                #expect(result?.user.name == nil)
            }
        }
    }

    @Test @available(macOS 14, *) func anOldSessionIsRenewedAndANewPasswordEndsIt() async throws {
        let database = try Self.database()
        try await RunningServer.run(database, options: Self.options) { server in
            let authenticator = try #require(server.server.context).authenticator
            let account = try #require(try authenticator.accounts.account("jan"))
            func cookie(age: Double) -> [String: String] {
                let issued = Date(timeIntervalSinceNow: -age)
                let cookie = SessionCookie(
                    user: "jan", salt: account.salt, secret: authenticator.secret, now: issued)
                return ["Cookie": "AuthSession=\(cookie.text)"]
            }
            #expect(try await server.answer("GET", "/_session", cookie(age: 0))[header: "set-cookie"] == nil)
            let renewed = try await server.answer("GET", "/_session", cookie(age: 120))
            #expect(renewed.text.contains(#""name":"jan""#))
            #expect(renewed[header: "set-cookie"]?.hasPrefix("AuthSession=") == true)
            let users = try database.collection("_users")
            var document = try #require(try await users.get("org.couchdb.user:jan"))
            for (key, value) in try PasswordHash(password: "pear", iterations: 1_000).members {
                document[key] = value
            }
            try await users.save(document)
            #expect(try await server.answer("GET", "/_session", cookie(age: 0)).text.contains(#""name":null"#))
        }
    }

    @Test @available(macOS 14, *) func failedLoginsLockAnAccount() async throws {
        var options = Self.options
        options.lockout.isEnforced = true
        try await RunningServer.run(Self.database(), options: options) { server in
            func status(_ credentials: String) async throws -> Int {
                let basic = "Basic \(Data(credentials.utf8).base64EncodedString())"
                return try await server.answer("GET", "/_session", ["Authorization": basic]).status
            }
            for _ in 0..<5 { #expect(try await status("jan:pear") == 401) }
            #expect(try await status("jan:pear") == 403)
            #expect(try await status("jan:apple") == 403)
            #expect(try await status("admin:secret: with a colon") == 200)
            let anonymous = try await server.answer("GET", "/")
            #expect(anonymous.status == 200)
        }
    }

    @Test @available(macOS 14, *) func aLockDoesNotTellWhichAccountsExist() async throws {
        var options = Self.options
        options.lockout.isEnforced = true
        try await RunningServer.run(Self.database(), options: options) { server in
            for name in ["jan", "admin", "nobody", "%"] {
                var statuses: [Int] = []
                for _ in 0..<7 {
                    let basic = "Basic \(Data("\(name):wrong".utf8).base64EncodedString())"
                    statuses.append(try await server.answer("GET", "/_session", ["Authorization": basic]).status)
                }
                #expect(statuses == [401, 401, 401, 401, 401, 403, 403], "\(name)")
            }
        }
    }

    @Test @available(macOS 14, *) func aLockEnds() async throws {
        let time = Locked(ContinuousClock().now)
        let database = try Self.database()
        let failures = FailedLogins(threshold: 2, lifetime: .seconds(10)) { time.withLock { $0 } }
        try await RunningServer.run(database, options: Self.options) { server in
            let accounts = try #require(server.server.context).authenticator.accounts
            let account = FailedLogins.Login("jan", try accounts.account("jan"))
            failures.add(account, from: "a")
            #expect(!failures.isLocked(account, from: "a"))
            failures.add(account, from: "a")
            #expect(failures.isLocked(account, from: "a") && !failures.isLocked(account, from: "b"))
            time.withLock { $0 += .milliseconds(9_999) }
            #expect(failures.isLocked(account, from: "a"))
            time.withLock { $0 += .milliseconds(1) }
            #expect(!failures.isLocked(account, from: "a"))
            failures.add(account, from: "a")
            #expect(failures.failures(account, "a") == 1)
        }
    }

    @Test @available(macOS 14, *) func aServerWithoutUsersListensOnlyAtThisMachine() async throws {
        for host in ["0.0.0.0", "::", "192.0.2.1", "example.com", "127.0.0.1.example.com"] {
            let server = TansuServer(database: try Database(.memory), options: ServerOptions(host: host, port: 0))
            let error = await #expect(throws: ServerError.self) { try await server.run() }
            #expect(error?.code == .needsUsers)
        }
        try await RunningServer.run { server in
            #expect(try await server.answer("GET", "/_all_dbs").text == "[]\n")
            for host in ["evil.example", "localhost.evil.example", "[2001:db8::1]:5984"] {
                let answers = try await server.answers(
                    to: "GET /_all_dbs HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n")
                #expect(answers.map(\.status) == [403])
            }
        }
    }

    @Test func passwordHashesAreThoseOfCouchDB() throws {
        // RFC 7914, section 11, and RFC 6070.
        for (function, password, salt, iterations, key) in [
            ("sha256", "passwd", "salt", 1, "55ac046e56e3089fec1691c22544b605f94185216dde0465e68b9d57c20dacbc"),
            ("sha", "password", "salt", 2, "ea6c014dc72d6ffed2ba1b43bb9f1c0e4e7b0f7b"),
        ] {
            let document: BSONDocument = [
                "password_scheme": "pbkdf2", "pbkdf2_prf": .string(function), "salt": .string(salt),
                "iterations": BSONValue(iterations), "derived_key": .string(key),
            ]
            let hash = PasswordHash(document)
            if function == "sha256" { #expect(try hash?.matches(password) == true) }
            #expect(try hash?.matches(password + "x") == false)
        }
        for (member, value) in [
            ("iterations", BSONValue(0)), ("iterations", BSONValue(Int.max)), ("derived_key", "zz"),
            ("derived_key", "00"),
            ("password_scheme", "simple"), ("pbkdf2_prf", "md5"),
        ] {
            var document = try PasswordHash(password: "a", iterations: 1).members
            document[member] = value
            #expect(PasswordHash(document) == nil)
        }
    }
}
#endif
