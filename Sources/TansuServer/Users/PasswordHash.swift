#if TansuServer
import _CryptoExtras
import Crypto
import Dispatch
import Foundation
import TansuBSON

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

/// Checks passwords against their hashes, which is slow on purpose: one at a time, concurrently with everything else. It remembers which
/// ones were right, so that Basic authentication costs the derivation once and not in each request.
final class PasswordChecker: Sendable {
    private struct State {
        var waiting = 0
        /// The authentication code of a right password for each hash.
        var known: [PasswordHash: [UInt8]] = [:]
    }

    private static let maximumWaiting = 64
    private static let maximumKnown = 1_024

    private let key = randomBytes(32)
    private let state = Locked(State())
    private let queue = DispatchQueue(label: "tansu.server.passwords", qos: .utility)

    /// - Throws: ``HTTPFailure`` with 503 when too many logins wait.
    func isPassword(_ password: String, of hash: PasswordHash) async throws -> Bool {
        let code = hmac(password, key: key)
        if let known = state.withLock({ $0.known[hash] }), isEqualInConstantTime(known, code) { return true }
        let matches = try await run { try hash.matches(password) }
        if matches {
            state.withLock { state in
                if state.known.count >= Self.maximumKnown { state.known.removeAll() }
                state.known[hash] = code
            }
        }
        return matches
    }

    /// Derives the key of a new password.
    func hash(_ password: String, iterations: Int) async throws -> PasswordHash {
        try await run { try PasswordHash(password: password, iterations: iterations) }
    }

    private func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws -> Result {
        try state.withLock { state in
            guard state.waiting < Self.maximumWaiting else { throw HTTPFailure.overloaded("Too many logins") }
            state.waiting += 1
        }
        defer { state.withLock { $0.waiting -= 1 } }
        return try await withCheckedThrowingContinuation { continuation in
            queue.async { continuation.resume(with: Swift.Result { try body() }) }
        }
    }
}

/// Counts the failed logins of accounts by the address that they come from, and locks the account for that address after
/// some of them, as CouchDB does.
final class FailedLogins: Sendable {
    /// What somebody logs in as: an account, or a name that is none. Names that are none are counted like those of accounts,
    /// so that a lock does not reveal which exist.
    struct Login {
        let name: String
        /// That of the account, so that a new password ends a lock; empty without one.
        let salt: String

        init(_ name: String, _ account: Account?) {
            self.name = name
            salt = account?.salt ?? ""
        }
    }

    /// A digest, because names have any length.
    private struct Key: Hashable {
        private let digest: SHA256Digest

        init(_ login: Login, _ peer: String) {
            var hash = SHA256()
            for part in [peer, login.name, login.salt] {
                hash.update(data: Array("\(part.utf8.count):\(part)".utf8))
            }
            digest = hash.finalize()
        }
    }

    private struct Count {
        var failures: Int
        let since: ContinuousClock.Instant
    }

    private let counts = Locked<[Key: Count]>([:])
    private let threshold: Int
    private let lifetime: Duration
    private let now: @Sendable () -> ContinuousClock.Instant
    private static let maximumCounts = 10_000

    init(
        threshold: Int, lifetime: Duration,
        now: @escaping @Sendable () -> ContinuousClock.Instant = { ContinuousClock().now }
    ) {
        self.threshold = threshold
        self.lifetime = lifetime
        self.now = now
    }

    func isLocked(_ login: Login, from peer: String) -> Bool { failures(login, peer) >= threshold }

    /// How many there are now.
    func failures(_ login: Login, _ peer: String) -> Int {
        counts.withLock { counts in
            guard let count = counts[Key(login, peer)], now() - count.since < lifetime else { return 0 }
            return count.failures
        }
    }

    func add(_ login: Login, from peer: String) {
        let now = now()
        counts.withLock { counts in
            let key = Key(login, peer)
            if counts[key] == nil, counts.count >= Self.maximumCounts {
                counts = counts.filter { now - $0.value.since < lifetime }
                // An attack from more addresses than that; the oldest count goes.
                if counts.count >= Self.maximumCounts,
                    let oldest = counts.min(by: { $0.value.since < $1.value.since })
                {
                    counts[oldest.key] = nil
                }
            }
            var count = counts[key] ?? Count(failures: 0, since: now)
            if now - count.since >= lifetime { count = Count(failures: 0, since: now) }
            count.failures += 1
            counts[key] = count
        }
    }
}
#endif
