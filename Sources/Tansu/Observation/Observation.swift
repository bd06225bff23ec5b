extension Database {
    /// The results of a query: the first one immediately, then a new one after each change. See
    /// ``Database/Query/observe()``, ``Database/Query/observeChanges()`` and, for lists in sections,
    /// `observe(sectionedBy:sorted:)`.
    ///
    /// The query runs when the loop requests the next result: while the loop is busy, nothing is run or buffered. It
    /// ends as ``Changes`` does.
    public struct Observation<Document: Sendable, Output: Sendable>: AsyncSequence, Sendable {
        /// The type of its elements.
        public typealias Element = Output

        /// A result, and what is delivered of it.
        struct Delivered: Sendable {
            let list: ObservedList<Document>
            let output: Output
        }

        /// What is delivered of a result, which may depend on the one before. It runs on a thread of the database.
        typealias Deliver = @Sendable (ObservedList<Document>, _ old: Delivered?) -> Output

        private let query: Query<Document>
        private let output: Deliver

        init(_ query: Query<Document>, _ output: @escaping Deliver) {
            self.query = query
            self.output = output
        }

        /// Begins to observe.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(query, output)
        }

        /// Iterates over results, endlessly.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            private enum State {
                case new
                /// With the last result that was delivered. After an error the next one is delivered, even if it equals
                /// that.
                case observing(OwnedFeed, Delivered?, isAfterError: Bool)
                case ended
            }

            private let query: Query<Document>
            private let output: Deliver
            private var state = State.new

            init(_ query: Query<Document>, _ output: @escaping Deliver) {
                self.query = query
                self.output = output
            }

            /// The first result immediately, then the next one that differs. `nil` only after an error.
            ///
            /// - Throws: As `all()` of a query, ``TansuError`` with `.closed`, and `CancellationError`. After that it
            ///   has ended, except after a `DecodingError`: the next step waits for a change and delivers its result, even
            ///   one that equals the last.
            public mutating func next() async throws -> Output? {
                do {
                    switch state {
                    case .new: return try await begin()
                    case .observing(let feed, let old, let isAfterError):
                        return try await goOn(feed, old, isAfterError: isAfterError)
                    case .ended: return nil
                    }
                } catch let error as DecodingError {
                    // The feed goes on, so the next call waits for a change and runs the query again.
                    if case .observing(let feed, let old, _) = state {
                        state = .observing(feed, old, isAfterError: true)
                    }
                    throw error
                } catch {
                    state = .ended
                    throw error.asSeenByTask
                }
            }

            private mutating func begin() async throws -> Output {
                let (query, output) = (query, output)
                let (feed, first) = try await query.session.database.readers.run { flag in
                    // The feed first, so that a commit between the two causes another run.
                    let feed = try EngineFeed(
                        query.session.database.engine, since: nil, options: try query.observedCollections)
                    let first = Result(catching: {
                        let list = try query.list(flag)
                        return Delivered(list: list, output: output(list, nil))
                    })
                    return (OwnedFeed(feed), first)
                }
                // Also when the result cannot be decoded, the next one is that of the next change.
                state = .observing(feed, nil, isAfterError: false)
                let delivered = try first.get()
                state = .observing(feed, delivered, isAfterError: false)
                return delivered.output
            }

            private mutating func goOn(
                _ owned: OwnedFeed, _ old: Delivered?, isAfterError: Bool
            ) async throws -> Output {
                let (query, output, feed) = (query, output, owned.engine)
                while true {
                    let mark = try feed.mark()
                    let (isTouched, new): (Bool, Delivered?) = try await query.session.database.readers.run { flag in
                        let list = try flag.cancelling(with: feed.cancel) {
                            try feed.whenTouched { try query.list(flag) }
                        }
                        guard let list else { return (false, nil) }
                        if let old, !isAfterError, list.hasSameRows(as: old.list) { return (true, nil) }
                        return (true, Delivered(list: list, output: output(list, old)))
                    }
                    if let new {
                        state = .observing(owned, new, isAfterError: false)
                        return new.output
                    }
                    if !isTouched {
                        await feed.signal.wait(after: mark)
                        try Task.checkCancellation()
                    }
                }
            }
        }
    }
}

extension Database.Query {
    /// The options of the feed: the collection that determines the result, or all when the query reads others.
    fileprivate var observedCollections: BSONDocument {
        get throws {
            let scope = EngineScope(engine: session.database.engine, transaction: nil)
            let read = try scope.collections(readBy: filter, hints, in: collection)
            return read.count > 1 ? [:] : ["collections": [BSONValue(collection)]]
        }
    }

    /// Runs it at the newest commit.
    fileprivate func list(_ flag: CancellationFlag) throws -> ObservedList<Element> {
        try withCursor { cursor in
            try flag.cancelling(with: cursor.cancel) {
                let reader = reader
                var list = ObservedList<Element>()
                while try cursor.next({ try list.append($0, reader) }) != nil {}
                return list
            }
        }
    }
}

// MARK: - Database: observation

extension Database {
    /// A value that is computed from several queries: the current one immediately, then a new one after each change.
    ///
    /// For example:
    ///
    /// ```swift
    /// let summaries = db.observe { snapshot in
    ///     Summary(
    ///         open: try snapshot.collection("orders", of: Order.self).find { $0.isOpen }.count(),
    ///         customers: try snapshot.collection("customers").count())
    /// }
    /// for try await summary in summaries { show(summary) }
    /// ```
    ///
    /// The closure runs on a thread of the database, in one snapshot, and again when something that it has read through
    /// the snapshot has changed: a document that it got by its id, or any document of a collection that it queried,
    /// joined or aggregated. `collections()` of the snapshot reads everything. The definitions of indexes are not
    /// observed. What the closure reads in other ways is not either, as through a collection of the database.
    ///
    /// Values that equal the previous one are left out, and many commits make one value.
    ///
    /// - Parameter compute: Computes the value. It can only read.
    /// - Returns: The values; see its iterator for errors.
    public func observe<Value: Equatable & Sendable>(
        _ compute: @escaping @Sendable (Transaction) throws -> Value
    ) -> ValueObservation<Value> {
        ValueObservation(self, compute, areEqual: ==)
    }

    /// A value that is computed from several queries and cannot be compared, such as a tuple: the current one
    /// immediately, then one after each change of something that the closure has read.
    ///
    /// - Parameter compute: Computes the value. It can only read.
    /// - Returns: The values; see its iterator for errors.
    public func observe<Value: Sendable>(
        _ compute: @escaping @Sendable (Transaction) throws -> Value
    ) -> ValueObservation<Value> {
        ValueObservation(self, compute, areEqual: nil)
    }
}

// MARK: - Query: observation

extension Database.Query {
    /// The documents that match: the current result immediately, then a new one after each change.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await adults in people.find(["age": ["$gte": 18]]).sorted(by: "name").observe() {
    ///     show(adults)
    /// }
    /// ```
    ///
    /// Commits that do not change the result deliver nothing, and several commits may deliver one result. The query
    /// runs on a thread of the database when the loop requests the next result and its collection has changed; an index
    /// and a limit make that cheap. Inside a transaction it returns committed documents.
    public func observe() -> Database.Observation<Element, [Element]> {
        Database.Observation(committed) { list, _ in list.elements }
    }

    /// The documents that match, with the difference to the previous result, for lists on a screen.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await update in people.find().sorted(by: "name").observeChanges() {
    ///     for change in update.changes {
    ///         switch change {
    ///         case .removed(let index): …
    ///         case .inserted(let index): …
    ///         case .moved(let from, let to): …
    ///         case .updated(let index): …
    ///         }
    ///     }
    /// }
    /// ```
    ///
    /// It behaves as `observe()`. Documents are identified by their `_id`.
    public func observeChanges() -> Database.Observation<Element, Database.ListUpdate<Element>> {
        Database.Observation(committed) { list, old in
            Database.ListUpdate(
                elements: list.elements, changes: list.changes(from: old?.list ?? ObservedList()))
        }
    }

    /// The same query outside of any transaction.
    var committed: Self {
        using(Session(session.database))
    }
}

extension Database.Collection {
    /// The documents that match: the current result immediately, then a new one after each change.
    ///
    /// The same as `find(query, hints: hints).observe()`.
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - hints: Options, such as `["$orderby": ["age": -1], "$max": 10]`.
    public func observe(
        _ query: BSONDocument = [:], hints: BSONDocument = [:]
    ) -> Database.Observation<Element, [Element]> {
        find(query, hints: hints).observe()
    }
}
