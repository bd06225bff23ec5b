extension Database {
    /// Documents that match, once they are asked for: all, the first, how many, one after another, or how they
    /// were found.
    ///
    /// A query is a value: the methods that refine it return another one, and it may be run again and again,
    /// seeing the database as it is each time. In an asynchronous context, step through it directly:
    ///
    /// ```swift
    /// for try await person in people.find(["age": ["$gte": 18]]) { … }
    /// ```
    public struct Query<Element: Sendable>: Sendable {
        /// Which documents.
        public let filter: BSONDocument

        /// How: order, range, fields.
        public internal(set) var hints: BSONDocument

        let session: Session
        let collection: String
        let codec: DocumentCodec<Element>

        init(
            session: Session, collection: String, codec: DocumentCodec<Element>, filter: BSONDocument,
            hints: BSONDocument
        ) {
            self.session = session
            self.collection = collection
            self.codec = codec
            self.filter = filter
            self.hints = hints
        }
    }
}
