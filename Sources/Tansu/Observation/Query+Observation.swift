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
            Database.ListUpdate(elements: list.elements, changes: list.changes(from: old))
        }
    }

    /// The same query outside of any transaction.
    private var committed: Self {
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
