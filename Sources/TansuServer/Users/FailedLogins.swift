#if TansuServer
    import TansuBSON

    /// Counts the failed logins of accounts by the address that they come from, and locks the account for that address after
    /// some of them, as CouchDB does.
    final class FailedLogins: Sendable {
        private struct Key: Hashable {
            let peer: BytewiseText
            let account: BytewiseText
            let salt: BytewiseText

            init(_ account: Account, _ peer: String) {
                self.peer = BytewiseText(peer)
                self.account = BytewiseText(account.name)
                salt = BytewiseText(account.salt)
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

        func isLocked(_ account: Account, from peer: String) -> Bool { failures(account, peer) >= threshold }

        /// How many there are now.
        func failures(_ account: Account, _ peer: String) -> Int {
            counts.withLock { counts in
                guard let count = counts[Key(account, peer)], now() - count.since < lifetime else { return 0 }
                return count.failures
            }
        }

        func add(_ account: Account, from peer: String) {
            let now = now()
            counts.withLock { counts in
                let key = Key(account, peer)
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
