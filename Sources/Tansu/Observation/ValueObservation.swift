extension Database {
    /// A value that is computed from several queries: the first one immediately, then a new one after each change of
    /// what they read: the result of `observe` of a database.
    ///
    /// The closure runs when the loop requests the next value: while the loop is busy nothing is run or buffered, and
    /// then only the newest value is delivered.
    ///
    /// It ends when the task is cancelled (a `CancellationError` is thrown), when the database is closed (a
    /// ``TansuError`` with `.closed`), or when the loop is left; then its resources are freed.
    public struct ValueObservation<Value: Sendable>: AsyncSequence, Sendable {
        /// The type of its elements.
        public typealias Element = Value

        private let database: Database
        private let compute: @Sendable (Transaction) throws -> Value
        /// `nil` when values cannot be compared: each is delivered.
        private let areEqual: (@Sendable (Value, Value) -> Bool)?

        init(
            _ database: Database, _ compute: @escaping @Sendable (Transaction) throws -> Value,
            areEqual: (@Sendable (Value, Value) -> Bool)?
        ) {
            self.database = database
            self.compute = compute
            self.areEqual = areEqual
        }

        /// Begins to observe.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(database, compute, areEqual)
        }

        /// Iterates over values, endlessly.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            /// A call of the closure: its result, and what it has read.
            private struct Run: Sendable {
                let result: Result<Value, any Error>
                let reads: ReadSet
            }

            private enum State {
                case new
                /// With what the closure has read, and the last value, which later ones are compared with.
                case observing(OwnedFeed, ReadSet, Value?)
                case ended
            }

            private let database: Database
            private let compute: @Sendable (Transaction) throws -> Value
            private let areEqual: (@Sendable (Value, Value) -> Bool)?
            private var state = State.new

            init(
                _ database: Database, _ compute: @escaping @Sendable (Transaction) throws -> Value,
                _ areEqual: (@Sendable (Value, Value) -> Bool)?
            ) {
                self.database = database
                self.compute = compute
                self.areEqual = areEqual
            }

            /// The first value immediately, then the next one that differs. `nil` only after the end.
            ///
            /// - Throws: The closure's error: the next step waits for a change of what the closure had read, and calls
            ///   it again. ``TansuError`` with `.closed` when the database is closed, and `CancellationError` when the
            ///   task is cancelled: it has ended.
            public mutating func next() async throws -> Value? {
                do {
                    switch state {
                    case .new: return try await begin()
                    case .observing(let feed, let reads, let old): return try await goOn(feed, reads, old)
                    case .ended: return nil
                    }
                } catch {
                    let error = error.asSeenByTask
                    // The closure may throw the same errors for a reason of its own.
                    let isClosed = (error as? TansuError)?.code == .closed && database.engine.isClosed
                    if isClosed || error is CancellationError && Task.isCancelled { state = .ended }
                    throw error
                }
            }

            private mutating func begin() async throws -> Value {
                let (database, compute) = (database, compute)
                let (feed, run) = try await database.readers.run { flag in
                    // The feed first, so that a commit between the two causes another run.
                    let feed = try EngineFeed(database.engine, since: nil, options: [:])
                    return (OwnedFeed(feed), Self.run(database, compute, flag))
                }
                return try keep(feed, run)
            }

            private mutating func goOn(_ owned: OwnedFeed, _ reads: ReadSet, _ old: Value?) async throws -> Value {
                let (database, compute, feed) = (database, compute, owned.engine)
                var reads = reads
                while true {
                    let mark = try feed.mark()
                    let run: Run? = try await database.readers.run { [reads] flag in
                        try flag.cancelling(with: feed.cancel) {
                            try feed.whenTouched(through: reads.contains) { Self.run(database, compute, flag) }
                        }
                    }
                    guard let run else {
                        await feed.signal.wait(after: mark)
                        try Task.checkCancellation()
                        continue
                    }
                    let value = try keep(owned, run)
                    guard let old, let areEqual, areEqual(value, old) else { return value }
                    reads = run.reads
                }
            }

            /// The value of a run, which the next step begins with.
            private mutating func keep(_ feed: OwnedFeed, _ run: Run) throws -> Value {
                // After an error the next value is delivered, whatever it is.
                state = .observing(feed, run.reads, nil)
                let value = try run.result.get()
                state = .observing(feed, run.reads, areEqual == nil ? nil : value)
                return value
            }

            private static func run(
                _ database: Database, _ compute: @Sendable (Transaction) throws -> Value, _ flag: CancellationFlag
            ) -> Run {
                let reads = ReadSet()
                let result = Result<Value, any Error> {
                    try database.readInCall(cancelledBy: flag, tracking: reads, compute)
                }
                return Run(result: result, reads: reads)
            }
        }
    }
}
