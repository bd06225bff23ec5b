extension Database {
    /// The running step of a migration: its transaction, and operations for steps.
    public final class MigrationStep: Sendable {
        /// The step's transaction.
        public let transaction: Transaction

        private let report: @Sendable (Progress?) throws -> Void

        init(_ transaction: Transaction, _ report: @escaping @Sendable (Progress?) throws -> Void) {
            self.transaction = transaction
            self.report = report
        }

        /// The collection with a name, of documents.
        ///
        /// - Parameter name: 1 to 120 bytes.
        /// - Throws: ``TansuError`` with `.invalidName`.
        public func collection(_ name: String) throws -> Collection<BSONDocument> {
            try transaction.collection(name)
        }

        /// The collection with a name, of values of a Codable type.
        ///
        /// - Parameters:
        ///   - name: 1 to 120 bytes.
        ///   - type: What its documents are decoded as.
        /// - Throws: ``TansuError`` with `.invalidName`.
        public func collection<Element: Codable & Sendable>(
            _ name: String, of type: Element.Type
        ) throws -> Collection<Element> {
            try transaction.collection(name, of: type)
        }

        /// Changes documents by a closure, one after another. The step may write up to 1 GiB. The operators of
        /// `collection(_:).update` are faster where they suffice.
        ///
        /// - Parameters:
        ///   - collection: The collection's name.
        ///   - query: Which documents; all when empty.
        ///   - body: What to change in each. Its `_id` must stay; its error ends the migration.
        /// - Returns: How many documents changed.
        /// - Throws: The closure's error, and as `update`; what the migration's `progress` throws.
        @discardableResult
        public func rewrite(
            _ collection: String, _ query: BSONDocument = [:], _ body: (inout BSONDocument) throws -> Void
        ) throws -> Int {
            let documents = try self.collection(collection)
            let total = try documents.count(query)
            var done = 0
            let result = try documents.update(query) { document in
                try body(&document)
                done += 1
                if done % 256 == 0 { try self.report(Progress(done: done, total: total)) }
            }
            try report(Progress(done: done, total: total))
            return result.modified
        }

        /// Makes values of one type into values of another, one after another.
        ///
        /// Fields that the old type does not decode are lost, unless the new type stores them.
        ///
        /// - Parameters:
        ///   - collection: The collection's name.
        ///   - old: What the documents are.
        ///   - coding: How their values are stored.
        ///   - newCoding: How the new values are stored; as the old ones when `nil`.
        ///   - query: Which documents; all when empty.
        ///   - body: What a value becomes; its id must stay.
        /// - Returns: How many documents changed.
        /// - Throws: The closure's error, and as `update`; `DecodingError`, `EncodingError`; what the migration's
        ///   `progress` throws.
        @discardableResult
        public func rewrite<Old: Decodable, New: Encodable>(
            _ collection: String, of old: Old.Type, coding: BSONCodingStrategies = BSONCodingStrategies(),
            storing newCoding: BSONCodingStrategies? = nil, _ query: BSONDocument = [:], _ body: (Old) throws -> New
        ) throws -> Int {
            var (encoder, decoder) = (BSONEncoder(), BSONDecoder())
            decoder.strategies = coding
            encoder.strategies = newCoding ?? coding
            let query = try transaction.session.storedQuery(query, of: collection, coding)
            return try rewrite(collection, query) { [encoder, decoder] document in
                let value: Old
                do { value = try decoder.decode(Old.self, from: document) } catch {
                    throw document.naming(error, in: collection)
                }
                document = try encoder.encode(body(value))
            }
        }

        /// Sets the schema of a collection, as `setSchema(_:for:)`.
        ///
        /// - Parameters:
        ///   - schema: The schema; `nil` removes it.
        ///   - collection: The collection's name; it is created if need be.
        /// - Throws: As `setSchema(_:for:)`.
        public func setSchema(_ schema: DocumentSchema?, for collection: String) throws {
            try transaction.session.setSchema(schema, for: collection)
        }
    }
}
