extension Database.Query {
    /// The documents that match: at once, then again whenever they have changed.
    ///
    /// For example:
    ///
    /// ```swift
    /// for try await adults in people.find(["age": ["$gte": 18]]).sorted(by: "name").observe() {
    ///     show(adults)
    /// }
    /// ```
    ///
    /// Commits that leave the result as it was are not told, and of several the result after the last one is. The
    /// query is run when the loop asks for the next result and its collection has changed, on a thread of the
    /// database's own; an index makes that cheap, and so does a limit. Inside a transaction it shows what is committed.
    public func observe() -> Database.Observation<Element, [Element]> {
        Database.Observation(committed) { list, _ in list.elements }
    }

    /// The documents that match, with the steps from each result to the next: what lists on a screen want.
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
    /// What `observe()` says holds here. Documents are known by their `_id`.
    public func observeChanges() -> Database.Observation<Element, Database.ListUpdate<Element>> {
        Database.Observation(committed) { list, old in
            Database.ListUpdate(elements: list.elements, changes: list.changes(from: old))
        }
    }

    /// The same query outside of any transaction.
    private var committed: Self {
        Self(
            session: Session(session.database), collection: collection, codec: codec, filter: filter, hints: hints)
    }
}

extension Database.Collection {
    /// The documents that match: at once, then again whenever they have changed.
    ///
    /// The same as `find(query, hints: hints).observe()`.
    ///
    /// - Parameters:
    ///   - query: Which documents; all when empty.
    ///   - hints: How, such as `["$orderby": ["age": -1], "$max": 10]`.
    public func observe(
        _ query: BSONDocument = [:], hints: BSONDocument = [:]
    ) -> Database.Observation<Element, [Element]> {
        find(query, hints: hints).observe()
    }
}
