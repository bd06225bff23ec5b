#if TansuSync
    public import Foundation
    import Tansu
    import TansuBSON

    extension RemoteCollection {
        /// A query for the documents that match. It runs when its documents are requested.
        ///
        /// The server is asked for what Mango can say of it, and what it finds is tested by this side: so the result is that of
        /// a collection of this process.
        ///
        /// - Parameters:
        ///   - query: Which documents; all but design documents when empty.
        ///   - hints: `$orderby`, `$skip`, `$max` and `$fields`; the methods of the query set the same options.
        public func find(_ query: BSONDocument = [:], hints: BSONDocument = [:]) -> RemoteQuery<Element> {
            RemoteQuery(self, local.find(query, hints: hints))
        }

        /// A query for the documents that match, decoded as another type, for the fields that `$fields` includes.
        ///
        /// - Parameters:
        ///   - query: Which documents; all but design documents when empty.
        ///   - hints: Options, such as `["$fields": ["name": 1]]`.
        ///   - type: What documents are decoded as.
        public func find<Other: Codable & Sendable>(
            _ query: BSONDocument = [:], hints: BSONDocument = [:], as type: Other.Type
        ) -> RemoteQuery<Other> { find(query, hints: hints).decoded(as: type) }

        /// A query for the documents that match a condition on the properties of their type.
        ///
        /// - Parameter condition: The condition. It runs once, to build the query.
        /// - Throws: `TansuError` with `.invalidQuery`: the stored name of a property is not known, or a value cannot be stored.
        public func find(
            _ condition: (Database.Field<Element>) -> Database.Condition
        ) throws -> RemoteQuery<Element> { RemoteQuery(self, try local.find(condition)) }

        /// A query for the documents that match a predicate of Foundation.
        ///
        /// - Parameter predicate: The predicate.
        /// - Throws: `TansuError` with `.invalidQuery`: an unsupported expression; what `find` with a closure throws.
        @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
        public func find(_ predicate: Predicate<Element>) throws -> RemoteQuery<Element> {
            RemoteQuery(self, try local.find(predicate))
        }

        /// A query whose selector is sent as it is, and means what it means to CouchDB.
        ///
        /// - Parameter selector: A selector of Mango, such as `["age": ["$gt": 21]]`.
        public func find(mango selector: BSONDocument) -> RemoteQuery<Element> {
            var query = find()
            query.mango = selector
            return query
        }

        /// How many documents match. The server sends their ids, and the fields that the query is about.
        ///
        /// - Parameters:
        ///   - query: Which documents; all but design documents when empty.
        ///   - hints: Options; `$skip` and `$max` count too.
        /// - Throws: As ``RemoteQuery/all()``.
        public func count(_ query: BSONDocument = [:], hints: BSONDocument = [:]) async throws -> Int {
            try await find(query, hints: hints).count()
        }
    }
#endif
