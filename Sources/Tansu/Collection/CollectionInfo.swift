extension Database {
    /// Name, size and options of a collection.
    public struct CollectionInfo: Sendable, Hashable, Decodable {
        /// Its name.
        public let name: String

        /// How many documents it has.
        public let documents: Int

        /// How compaction stores them.
        public let compression: CollectionCompression

        /// Where its documents refer to others.
        public let references: [CollectionReference]

        /// The fields by which its documents are dated; `nil` when they are not.
        public let timestamps: Timestamps?

        /// Decodes what the engine lists.
        public init(from decoder: any Decoder) throws {
            let container = try decoder.container(keyedBy: Key.self)
            name = try container.decode(String.self, forKey: .name)
            documents = try container.decode(Int.self, forKey: .documents)
            let options = try container.decode(Options.self, forKey: .options)
            compression = options.compression ?? .uncompressed
            references = options.references ?? []
            timestamps = options.timestamps
        }

        private enum Key: CodingKey { case name, documents, options }

        private struct Options: Decodable {
            let compression: CollectionCompression?
            let references: [CollectionReference]?
            let timestamps: Timestamps?
        }
    }
}
