#if TansuServer
    import Crypto
    import Foundation
    import TansuBSON
    import _CryptoExtras

    /// A password as it is stored: a key derived from it by PBKDF2, in the members that CouchDB's user documents have.
    package struct PasswordHash: Sendable, Hashable {
        /// The function that PBKDF2 iterates; user documents that are older than CouchDB 3.4 have SHA-1.
        enum Function: String, Sendable {
            case sha1 = "sha"
            case sha256
            case sha512

            var byteCount: Int {
                switch self {
                case .sha1: 20
                case .sha256: 32
                case .sha512: 64
                }
            }
        }

        /// Checking a password must not take minutes, whatever a document says.
        private static let maximumIterations = 10_000_000

        let function: Function
        let iterations: Int
        /// The text itself is the salt, not what it encodes.
        let salt: String
        let derivedKey: [UInt8]

        /// Derives a key from a new password, with a salt of its own. Slow on purpose.
        package init(password: String, iterations: Int = ServerOptions().passwordIterations) throws {
            function = .sha256
            self.iterations = iterations
            salt = randomHex(byteCount: 16)
            derivedKey = try Self.derive(password, salt, function, iterations)
        }

        /// The hash in a user document; nil when it has none, or one that this server cannot check.
        init?(_ document: BSONDocument) {
            guard document["password_scheme"]?.stringValue == "pbkdf2",
                let function = Function(rawValue: document["pbkdf2_prf"]?.stringValue ?? "sha"),
                let iterations = document["iterations"]?.intValue, (1...Self.maximumIterations).contains(iterations),
                let salt = document["salt"]?.stringValue,
                let key = document["derived_key"]?.stringValue.flatMap(bytes(hex:)), key.count == function.byteCount
            else { return nil }
            self.function = function
            self.iterations = iterations
            self.salt = salt
            derivedKey = key
        }

        /// The members of a user document.
        var members: BSONDocument {
            [
                "password_scheme": "pbkdf2", "pbkdf2_prf": .string(function.rawValue), "salt": .string(salt),
                "iterations": BSONValue(iterations), "derived_key": .string(hex(derivedKey)),
            ]
        }

        /// An account with this instead of its password.
        package func stored(in account: BSONDocument) -> BSONDocument {
            var account = account
            for member in ["password", "password_sha"] { account.removeValue(forKey: member) }
            for (key, value) in members { account[key] = value }
            return account
        }

        /// Whether it is the hash of a password. Slow on purpose, and as slow for a wrong one.
        func matches(_ password: String) throws -> Bool {
            try isEqualInConstantTime(Self.derive(password, salt, function, iterations), derivedKey)
        }

        private static func derive(
            _ password: String, _ salt: String, _ function: Function, _ iterations: Int
        ) throws -> [UInt8] {
            let hash: KDF.Insecure.PBKDF2.HashFunction =
                switch function {
                case .sha1: .insecureSHA1
                case .sha256: .sha256
                case .sha512: .sha512
                }
            // The number of rounds is an option of the server, or that of a document which another server wrote.
            let key = try KDF.Insecure.PBKDF2.deriveKey(
                from: Data(password.utf8), salt: Data(salt.utf8), using: hash, outputByteCount: function.byteCount,
                unsafeUncheckedRounds: iterations)
            return key.withUnsafeBytes { Array($0) }
        }
    }
#endif
