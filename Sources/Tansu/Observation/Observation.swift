extension Database {
    /// The results of a query, the first at once, then again whenever they have changed: see
    /// ``Database/Query/observe()`` and ``Database/Query/observeChanges()``.
    ///
    /// The loop asks for results: while it is busy nothing is run and nothing is kept, and what it gets next is the
    /// newest. It ends as ``Changes`` does.
    public struct Observation<Document: Sendable, Output: Sendable>: AsyncSequence, Sendable {
        /// What it steps through.
        public typealias Element = Output

        private let query: Query<Document>
        private let output: @Sendable (ObservedList<Document>, _ old: ObservedList<Document>) -> Output

        init(
            _ query: Query<Document>,
            _ output: @escaping @Sendable (ObservedList<Document>, _ old: ObservedList<Document>) -> Output
        ) {
            self.query = query
            self.output = output
        }

        /// Begins to observe.
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(query, output)
        }

        /// Steps from result to result, for ever.
        public struct AsyncIterator: AsyncIteratorProtocol, Sendable {
            private enum State {
                case new
                case watching(OwnedFeed, ObservedList<Document>)
                case ended
            }

            private let query: Query<Document>
            private let output: @Sendable (ObservedList<Document>, ObservedList<Document>) -> Output
            private var state = State.new

            init(
                _ query: Query<Document>,
                _ output: @escaping @Sendable (ObservedList<Document>, ObservedList<Document>) -> Output
            ) {
                self.query = query
                self.output = output
            }

            /// The result, at first at once, then when it is another one. `nil` only after an error.
            ///
            /// - Throws: As `all()` of a query, ``TansuError`` with `.closed`, and `CancellationError`. After that it
            ///   has ended.
            public mutating func next() async throws -> Output? {
                do {
                    switch state {
                    case .new: return try await begin()
                    case .watching(let feed, let old): return try await goOn(feed, old)
                    case .ended: return nil
                    }
                } catch {
                    state = .ended
                    throw error.asSeenByTask
                }
            }

            private mutating func begin() async throws -> Output {
                let query = query
                let (feed, list) = try await query.session.database.readers.run { flag in
                    // The feed first: what is committed between the two is then looked at again.
                    let feed = try EngineFeed(
                        query.session.database.engine, since: nil, options: query.watchedCollections)
                    return (OwnedFeed(feed), try query.list(flag))
                }
                state = .watching(feed, list)
                return output(list, ObservedList())
            }

            private mutating func goOn(_ owned: OwnedFeed, _ old: ObservedList<Document>) async throws -> Output {
                let (query, feed) = (query, owned.engine)
                while true {
                    let mark = try feed.mark()
                    let list: ObservedList<Document>? = try await query.session.database.readers.run { flag in
                        let isTouched = try flag.stopping(with: feed.cancel) { try feed.next { _ in true } ?? false }
                        guard isTouched else { return nil }
                        // All that was committed so far is in the result.
                        try feed.skip()
                        return try query.list(flag)
                    }
                    if let list, !list.hasSameRows(as: old) {
                        state = .watching(owned, list)
                        return output(list, old)
                    }
                    if list == nil {
                        await feed.signal.wait(after: mark)
                        try Task.checkCancellation()
                    }
                }
            }
        }
    }
}

extension Database.Query {
    /// The feed's options: the collection that can change the result, or all where other ones are joined.
    fileprivate var watchedCollections: BSONDocument {
        hints["$do"] != nil || filter["$do"] != nil ? [:] : ["collections": [BSONValue(collection)]]
    }

    /// Runs it at the newest commit.
    fileprivate func list(_ flag: CancellationFlag) throws -> ObservedList<Element> {
        try withCursor { cursor in
            try flag.stopping(with: cursor.cancel) {
                var list = ObservedList<Element>()
                while try cursor.next({ try list.append($0, codec) }) != nil {}
                return list
            }
        }
    }
}
