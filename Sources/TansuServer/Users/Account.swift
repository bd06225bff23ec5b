#if TansuServer
import Tansu
import TansuBSON
import TansuSync

/// Somebody who may log in.
struct Account: Sendable {
    let name: String
    let roles: [String]
    /// Part of the key of sessions, and of the name under which failed logins are counted: a new password ends both.
    let salt: String
    let password: Password

    /// Whether it is the account of a user document, whose password is derived slowly.
    var isUser: Bool {
        if case .hash = password { return true }
        return false
    }

    enum Password: Sendable {
        /// Of a server admin: the server has the password itself, and keeps its authentication code.
        case admin([UInt8])
        /// Of a user document.
        case hash(PasswordHash)
    }
}

/// The accounts of a server: admins from its options, users from the documents of `_users`.
struct Accounts: Sendable {
    private let database: Database
    private let admins: [BytewiseText: Account]
    private let adminKey = randomBytes(32)

    init(database: Database, admins: [String: String], secret: [UInt8]) {
        self.database = database
        let key = adminKey
        self.admins = Dictionary(
            uniqueKeysWithValues: admins.map { name, password in
                let salt = hex(hmac("\(name):\(password)", key: secret))
                let code = hmac(password, key: key)
                return (
                    BytewiseText(name), Account(name: name, roles: ["_admin"], salt: salt, password: .admin(code))
                )
            })
    }

    func account(_ name: String) throws -> Account? {
        if let admin = admins[BytewiseText(name)] { return admin }
        guard let document = try database.collection(AccountRules.collection).get(AccountRules.idPrefix + name),
            document["name"]?.stringValue == name, document["type"]?.stringValue == "user",
            let hash = PasswordHash(document)
        else { return nil }
        // Only the options of the server make server admins.
        let roles = document["roles"]?.arrayValue?.compactMap(\.stringValue).filter { !$0.hasPrefix("_") } ?? []
        return Account(name: name, roles: roles, salt: hash.salt, password: .hash(hash))
    }

    /// Whether anybody can log in; without, a server at a loopback address lets everyone in.
    static func exist(in database: Database, admins: [String: String]) throws -> Bool {
        try !admins.isEmpty || database.collection(AccountRules.collection).count() > 0
    }

    /// Whether it is the password of an admin. Their passwords are not derived slowly: the process has them anyway.
    func isPassword(_ password: String, ofAdmin code: [UInt8]) -> Bool {
        isEqualInConstantTime(hmac(password, key: adminKey), code)
    }
}

/// Who makes a request.
struct UserContext: Sendable, Hashable {
    /// How somebody has proved who they are; CouchDB's names.
    enum Authentication: String, Sendable {
        case password = "default"
        case cookie
        case bearer = "jwt"
    }

    /// Nil for somebody unknown.
    var name: String?
    var roles: [String]
    var authentication: Authentication?

    init(name: String?, roles: [String], authentication: Authentication? = nil) {
        self.name = name
        self.roles = roles
        self.authentication = authentication
    }

    static func == (a: Self, b: Self) -> Bool {
        a.name == b.name && a.roles == b.roles && a.authentication == b.authentication
    }

    /// Somebody unknown, who may do what everyone may.
    static let anonymous = UserContext(name: nil, roles: [])

    /// Whether it is an admin of the server.
    var isServerAdmin: Bool { roles.contains("_admin") }
}

/// The security object of a database: who reads and writes it, and who manages it.
struct SecurityObject: Sendable, Hashable {
    struct Group: Sendable, Hashable {
        var names: Set<BytewiseText> = []
        var roles: Set<BytewiseText> = []

        func contains(_ user: UserContext) -> Bool {
            user.name.map { names.contains(BytewiseText($0)) } == true
                || user.roles.contains { roles.contains(BytewiseText($0)) }
        }
    }

    var admins: Group
    var members: Group

    /// That of a database to which none was given: server admins only.
    static let standard: BSONDocument = [
        "members": .document(["roles": .array(["_admin"])]), "admins": .document(["roles": .array(["_admin"])]),
    ]

    init(_ document: BSONDocument) {
        admins = Self.group(document["admins"])
        members = Self.group(Self.members(of: document))
    }

    /// The group of the members; older versions of CouchDB called them readers.
    static func members(of document: BSONDocument) -> BSONValue? { document["members"] ?? document["readers"] }

    private static func group(_ value: BSONValue?) -> Group {
        guard let document = value?.documentValue else { return Group() }
        func texts(_ key: String) -> Set<BytewiseText> {
            document[key]?.arrayValue?.compactMap(\.stringValue).bytewiseSet ?? []
        }
        return Group(names: texts("names"), roles: texts("roles"))
    }

    func isAdmin(_ user: UserContext) -> Bool { user.isServerAdmin || admins.contains(user) }

    /// Everyone is a member of a database without members.
    func isMember(_ user: UserContext) -> Bool {
        members == Group() || isAdmin(user) || members.contains(user)
    }

    /// - Throws: ``HTTPFailure`` unless the user may read and write documents.
    func requireMember(_ user: UserContext) throws {
        guard !isMember(user) else { return }
        throw user.name == nil
            ? HTTPFailure.unauthorized("You are not authorized to access this db.")
            : HTTPFailure.forbidden("You are not allowed to access this db.")
    }

    /// - Throws: ``HTTPFailure`` unless the user may change design documents and settings of the database.
    func requireAdmin(_ user: UserContext) throws {
        guard !isAdmin(user) else { return }
        let reason = "You are not a db or server admin."
        throw user.name == nil ? HTTPFailure.unauthorized(reason) : HTTPFailure.forbidden(reason)
    }
}
#endif
