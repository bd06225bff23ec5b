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
        /// Which documents, with values in the form in which they are stored.
        public internal(set) var filter: BSONDocument

        /// Options: order, range, fields.
        public internal(set) var hints: BSONDocument

        package internal(set) var session: Session
        package let collection: String
        package internal(set) var codec: DocumentCodec<Element>

        /// Whether documents are sorted by `_id` last, only so that no two are equal.
        var isPaged = false

        /// Why it cannot run, such as a comparison by order of what is not stored in its order.
        var fault: TansuError?

        /// Names of properties that no document has confirmed yet.
        var names: [NamingScope] = []

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
            reader.joins = joins.map(\.path)
            return reader
        }

        /// The paths at which it joins documents, with their collections.
        private var joins: [(path: String, collection: String)] {
            [hints["$do"], filter["$do"]].flatMap { joins in
                joins?.documentValue?.compactMap { path, action in
                    action.documentValue?["$join"].map { (path, $0.stringValue ?? "") }
                } ?? []
            }
        }

        /// Checks that the documents that it joins can be decoded as parts of its own.
        private func checkJoins() throws {
            guard hints["$do"] != nil || filter["$do"] != nil, Element.self != BSONDocument.self else { return }
            for (path, joined) in joins {
                guard let coding = ReferenceTargets.of(session.database).coding(of: joined),
                    let type = SwiftKeyPath.propertyType(atPath: path, of: Element.self),
                    !StoredProperty.isStoredAlike(type, codec.strategies, coding)
                else { continue }
                throw TansuError(
                    .invalidQuery,
                    "The query joins \"\(joined)\", which stores values in another form than \"\(collection)\", so that they"
                        + " cannot be decoded as one; use including(_:), or decode as BSONDocument", context: path)
            }
        }

        /// Checks that what it compares and sorts by is stored in the order of its type, and that properties are where they are
        /// looked for.
        ///
        /// - Throws: ``TansuError`` with `.invalidQuery`.
        package func checkOrder() throws {
            if let fault { throw fault }
            for scope in names { try scope.verify(filter, in: session) }
            try checkJoins()
            var hints = hints
            if isPaged, var order = hints["$orderby"]?.documentValue {
                order["_id"] = nil
                hints["$orderby"] = .document(order)
            }
            try codec.checkOrder(hints)
        }

        /// The collection with the documents of this query, as it decodes them.
        package var ownCollection: Database.Collection<Element> {
            Database.Collection(session: session, name: collection, codec: codec)
        }

        /// The same query in a transaction.
        package func inTransaction(_ transaction: Database.Transaction) -> Self { using(transaction.session) }

        /// The same query in another session.
        package func using(_ session: Session) -> Self {
            var query = self
            query.session = session.on(Database.Collection<Element>.self)
            return query
        }

        /// The same query with another codec.
        func using<Other>(_ codec: DocumentCodec<Other>) -> Database.Query<Other> {
            var query = Database.Query<Other>(
                session: session, collection: collection, codec: codec, filter: filter, hints: hints)
            (query.isPaged, query.fault, query.names) = (isPaged, fault, names)
            return query
        }
    }
}
