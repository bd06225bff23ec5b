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
#endif
