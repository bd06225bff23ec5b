extension Database {
    /// A query on a collection. It runs when its documents are requested: all, the first, their number, one after
    /// another, or its plan.
    ///
    /// A query is a value: the methods that refine it return another one. It may run many times, each time on the
    /// current state of the database. In an asynchronous context, iterate over it directly:
    ///
    /// ```swift
    /// for try await person in people.find(["age": ["$gte": 18]]) { … }
    /// ```
    public struct Query<Element: Sendable>: Sendable {
        /// Which documents.
        public let filter: BSONDocument

        /// Options: order, range, fields.
        public internal(set) var hints: BSONDocument

        package let session: Session
        package let collection: String
        package let codec: DocumentCodec<Element>

        /// Whether documents are sorted by `_id` last, only so that no two are equal.
        var isPaged = false

        init(
            session: Session, collection: String, codec: DocumentCodec<Element>, filter: BSONDocument,
            hints: BSONDocument
        ) {
            self.session = session.on(Database.Collection<Element>.self)
            self.collection = collection
            self.codec = codec
            self.filter = filter
            self.hints = hints
        }

        /// The codec for the documents of this query, at the paths of whose joins there may be ids.
        var reader: DocumentCodec<Element> {
            var reader = codec
            reader.joins = [hints["$do"], filter["$do"]].flatMap { joins in
                joins?.documentValue?.filter { $0.value.documentValue?["$join"] != nil }.map(\.key) ?? []
            }
            return reader
        }

        /// Checks that what it compares and sorts by is stored in the order of its type.
        ///
        /// - Throws: ``TansuError`` with `.invalidQuery`.
        package func checkOrder() throws {
            var hints = hints
            if isPaged, var order = hints["$orderby"]?.documentValue {
                order["_id"] = nil
                hints["$orderby"] = .document(order)
            }
            try codec.checkOrder(filter, hints)
        }

        /// The collection with the documents of this query, as it decodes them.
        package var ownCollection: Database.Collection<Element> {
            Database.Collection(session: session, name: collection, codec: codec)
        }

        /// The same query in a transaction.
        package func inTransaction(_ transaction: Database.Transaction) -> Self { using(transaction.session) }

        /// The same query in another session.
        package func using(_ session: Session) -> Self {
            Self(session: session, collection: collection, codec: codec, filter: filter, hints: hints)
        }
    }
}
