#if TansuServer
import Foundation
import HTTPTypes
import NIOCore
import Tansu
import TansuBSON

/// Finds out who makes a request: by bearer token, session cookie or Basic authentication, in this order.
struct Authenticator: Sendable {
    /// Who it is, and the cookie that renews the session.
    struct Result: Sendable {
        var user: UserContext
        var renewedCookie: String?
    }

    let accounts: Accounts
    let secret: [UInt8]
    let options: ServerOptions
    let settings: ServerSettings
    /// Nobody can log in, so everyone who reaches the server is its admin.
    let isOpen: Bool
    let tokens: BearerTokens?
    let passwords = PasswordChecker()
    private let failures: FailedLogins

    init(
        database: Database, identity: ServerIdentity, options: ServerOptions, settings: ServerSettings
    ) async throws {
        accounts = Accounts(database: database, admins: options.admins, secret: identity.secret)
        secret = identity.secret
        self.options = options
        self.settings = settings
        isOpen = try !Accounts.exist(in: database, admins: options.admins) && options.jsonWebKeys == nil
        tokens = if let keys = options.jsonWebKeys { try await BearerTokens(jsonWebKeys: keys) } else { nil }
        failures = FailedLogins(threshold: options.lockout.threshold, lifetime: options.lockout.lifetime)
    }

    /// CouchDB's names of the ways to authenticate.
    var handlers: [String] { (tokens == nil ? [] : ["jwt"]) + ["cookie", "default"] }

    /// - Throws: ``HTTPFailure`` for wrong credentials; without any, the user is anonymous.
    func authenticate(_ fields: HTTPFields, from peer: String) async throws -> Result {
        if isOpen { return Result(user: UserContext(name: nil, roles: ["_admin"])) }
        if let tokens, let token = credentials("bearer", fields) {
            return Result(user: try await tokens.user(token))
        }
        if let result = try session(fields) { return result }
        if let credentials = credentials("basic", fields), let (name, password) = try Self.basic(credentials) {
            let account = try await logIn(name, password, from: peer)
            return Result(user: UserContext(name: account.name, roles: account.roles, authentication: .password))
        }
        return Result(user: .anonymous)
    }

    /// - Throws: ``HTTPFailure`` with 401 for a wrong name or password, 403 for a locked account.
    func logIn(_ name: String, _ password: String, from peer: String) async throws -> Account {
        let account = try accounts.account(name)
        let login = FailedLogins.Login(name, account)
        if settings.isLockoutEnforced, failures.isLocked(login, from: peer) {
            throw HTTPFailure.forbidden("Account is temporarily locked due to multiple authentication failures")
        }
        if let account, try await isPassword(password, of: account) { return account }
        let before = min(failures.failures(login, peer), 10)
        failures.add(login, from: peer)
        if account?.isUser != true {
            // As slow as a user's wrong password, so that the time does not reveal which names exist.
            _ = try await passwords.hash(password, iterations: options.passwordIterations)
        }
        try await Task.sleep(for: options.lockout.delay * before)
        throw HTTPFailure.unauthorized("Name or password is incorrect.")
    }

    private func isPassword(_ password: String, of account: Account) async throws -> Bool {
        switch account.password {
        case .admin(let code): accounts.isPassword(password, ofAdmin: code)
        case .hash(let hash): try await passwords.isPassword(password, of: hash)
        }
    }

    /// A new session.
    func cookie(for account: Account) -> String {
        SessionCookie(user: account.name, salt: account.salt, secret: secret).text
    }

    /// Nil without a session cookie, and with one that is forged or has expired.
    private func session(_ fields: HTTPFields) throws -> Result? {
        guard let text = Self.cookie(named: SessionCookie.name, fields), !text.isEmpty else { return nil }
        let cookie = try SessionCookie(text)
        guard let account = try accounts.account(cookie.user),
            cookie.isValid(salt: account.salt, secret: secret, lifetime: options.sessionLifetime)
        else { return nil }
        let user = UserContext(name: account.name, roles: account.roles, authentication: .cookie)
        let isOld = cookie.needsRenewal(lifetime: options.sessionLifetime)
        return Result(user: user, renewedCookie: isOld ? self.cookie(for: account) : nil)
    }

    private func credentials(_ scheme: String, _ fields: HTTPFields) -> String? {
        guard let value = fields[.authorization] else { return nil }
        let parts = value.parts(separatedBy: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].asciiLowercased == scheme else { return nil }
        return parts[1].trimmingSpaces
    }

    private static func cookie(named name: String, _ fields: HTTPFields) -> String? {
        for field in fields[values: .cookie] {
            for pair in field.parts(separatedBy: ";") {
                let parts = pair.parts(separatedBy: "=", maxSplits: 1)
                if parts.count == 2, parts[0].trimmingSpaces == name {
                    let value = parts[1].trimmingSpaces
                    return (value.dropping(prefix: "\"") ?? value).prefixUntil("\"")
                }
            }
        }
        return nil
    }

    /// Nil without a colon, and for `_:_`, by which browsers forget who was logged in.
    private static func basic(_ credentials: String) throws -> (name: String, password: String)? {
        guard let data = Data(base64Encoded: credentials), let text = String(utf8: data) else {
            throw HTTPFailure.badRequest("Authorization header has invalid base64 value")
        }
        let parts = text.parts(separatedBy: ":", maxSplits: 1)
        return parts.count == 2 && text != "_:_" ? (parts[0], parts[1]) : nil
    }
}
#endif
