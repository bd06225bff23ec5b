extension Database {
    /// What a database tells about an index.
    public struct IndexInfo: Sendable, Hashable {
        /// Its name.
        public let name: String

        /// Its paths, the first first.
        public let keys: [IndexKey]

        /// Whether no two documents may have the same values.
        public let isUnique: Bool

        /// Whether documents that have none of its paths are left out.
        public let isSparse: Bool

        /// Whether strings are indexed without regard to letter case.
        public let isCaseInsensitive: Bool

        /// The query that documents in it match; `nil` when all are in it.
        public let partialFilter: BSONDocument?

        /// Whether a document has made several entries: an array is indexed by element.
        public let isMultikey: Bool

        /// How many entries it has.
        public let entries: Int

        init(_ document: BSONDocument) {
            name = document["name"]?.stringValue ?? ""
            keys = (document["keys"]?.documentValue ?? [:]).map { path, order in
                IndexKey(path, order.intValue == -1 ? .descending : .ascending)
            }
            isUnique = document["unique"]?.boolValue ?? false
            isSparse = document["sparse"]?.boolValue ?? false
            isCaseInsensitive = document["caseInsensitive"]?.boolValue ?? false
            partialFilter = document["partialFilter"]?.documentValue
            isMultikey = document["multikey"]?.boolValue ?? false
            entries = document["entries"]?.intValue ?? 0
        }
    }

    /// A path that an index orders documents by.
    public struct IndexKey: Sendable, Hashable {
        /// The dotted path.
        public var path: String

        /// The direction.
        public var direction: SortDirection

        /// Makes a key.
        public init(_ path: String, _ direction: SortDirection = .ascending) {
            self.path = path
            self.direction = direction
        }
    }
}
