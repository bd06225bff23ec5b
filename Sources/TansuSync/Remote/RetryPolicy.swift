#if TansuSync
    /// How often and when a failed request is sent again.
    ///
    /// It has no clock and no source of random numbers but those that it is given, so that a simulation can repeat it.
    package struct RetryPolicy: Sendable {
        /// The greatest number of times that a request is sent.
        package var attempts = 8
        /// The seconds before the second attempt; each later one waits twice as long.
        package var firstDelay = 0.25
        /// The greatest number of seconds.
        package var maximumDelay = 300.0
        /// Waits for some seconds.
        package var sleep: @Sendable (Double) async throws -> Void
        /// A number from 0 up to 1.
        package var random: @Sendable () -> Double

        package init(
            sleep: @escaping @Sendable (Double) async throws -> Void, random: @escaping @Sendable () -> Double
        ) {
            self.sleep = sleep
            self.random = random
        }

        /// With the clock and the random numbers of the system.
        package static var system: RetryPolicy {
            RetryPolicy(
                sleep: { try await Task.sleep(for: .seconds($0)) }, random: { Double.random(in: 0..<1) })
        }

        /// The seconds to wait after some attempts: from half of the delay to the whole of it, so that clients whose
        /// server was away do not all come back at once.
        package func delay(after attempts: Int, atLeast minimum: Double? = nil) -> Double {
            var delay = firstDelay
            for _ in 1..<min(max(attempts, 1), 64) where delay < maximumDelay { delay *= 2 }
            delay = min(delay, maximumDelay) * (0.5 + random() / 2)
            // A server that wants more than the greatest delay is asked after it.
            return max(delay, min(minimum ?? 0, maximumDelay))
        }
    }
#endif
