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
