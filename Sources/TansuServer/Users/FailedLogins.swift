#if TansuServer
    import Crypto
    import TansuBSON

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
