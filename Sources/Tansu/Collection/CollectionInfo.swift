extension Database {
    /// Name and size of a collection.
    public struct CollectionInfo: Sendable, Hashable, Decodable {
        /// Its name.
        public let name: String

        /// How many documents it has.
        public let documents: Int
    }
}
