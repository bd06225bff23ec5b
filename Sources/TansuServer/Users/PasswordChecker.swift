#if TansuServer
    import Dispatch
    import TansuBSON

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
#endif
