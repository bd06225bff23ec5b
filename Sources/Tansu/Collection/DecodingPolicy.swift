extension Database {
    /// What happens to documents that cannot be decoded as the type of their collection, where many are read: in
    /// results of queries and observations, and in the events of change streams.
    ///
    /// For example:
    ///
    /// ```swift
    /// let people = try db.collection("people", of: Person.self).decoding(.skipping { print("skipped:", $0) })
    /// ```
    ///
    /// A call for one document, such as `get`, throws in any case: `nil` means that there is none.
    public enum DecodingPolicy: Sendable {
        /// The first one is an error, which names it. A cursor, a change stream and an observation may go on after it.
        case strict

        /// They are left out. The closure is called with each, on the thread that reads, whenever the query runs.
        ///
        /// A change stream has their events nevertheless, with the `_id` and without the document: who keeps a copy of
        /// the collection has to know that a document in it cannot be decoded any more. Remove from the copy what has
        /// no ``Database/Change/after``, whatever the kind of the event:
        ///
        /// ```swift
        /// for try await change in people.decoding(.skipping()).changes() {
        ///     if let id = change.id { copy[id] = change.after }
        /// }
        /// ```
        case skipping(report: @Sendable (UndecodableDocument) -> Void = { _ in })
    }

    /// A document that cannot be decoded as the type of its collection.
    public struct UndecodableDocument: Sendable {
        /// The collection's name.
        public let collection: String

        /// The document's `_id`; `nil` when the query omits it.
        public let id: BSONValue?

        /// The document as it is stored.
        public let document: BSONDocument

        /// Why: a `DecodingError` that names path, expected and found type, or what the type threw.
        public let error: any Error
    }
}

extension Database.UndecodableDocument: CustomStringConvertible {
    /// The error, which names the document.
    public var description: String {
        guard let error = error as? DecodingError else { return safeDescription(of: error) }
        return error.context.debugDescription
    }
}
