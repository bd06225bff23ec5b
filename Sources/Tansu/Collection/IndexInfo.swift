/// The direction of a sort, or of one path of an index.
public enum SortDirection: Sendable, Hashable, CaseIterable {
    /// The least first.
    case ascending

    /// The greatest first.
    case descending

    /// Its value in a document: 1 or -1.
    var bsonValue: BSONValue { self == .ascending ? 1 : -1 }
}

extension Database {
    /// The description of an index.
    public struct IndexInfo: Sendable, Hashable {
        /// Its name.
        public let name: String

        /// Its paths, the most significant first.
        public let keys: [IndexKey]

        /// Whether two documents with the same values are rejected.
        public let isUnique: Bool

        /// Whether documents with none of its paths are not indexed.
        public let isSparse: Bool

        /// Whether it ignores letter case.
        public let isCaseInsensitive: Bool

        /// The query that indexed documents match; `nil` when all are indexed.
        public let partialFilter: BSONDocument?

        /// How many entries one document may have; `nil` when it is the default, 10,000.
        public let maxEntries: Int?

        /// The paths that a wildcard index has, with all below them; all paths when empty.
        public let only: [String]

        /// The paths that a wildcard index leaves out, with all below them.
        public let except: [String]

        /// What an index of words has beside its paths; `nil` for other indexes. The directions of its keys mean nothing.
        public let text: TextIndexOptions?

        /// Whether a document has several entries, because an array is indexed by element.
        public let isMultikey: Bool

        /// How many entries it has.
        public let entries: Int

        package init(_ document: BSONDocument) {
            name = document["name"]?.stringValue ?? ""
            keys = IndexKey.keys(document["keys"]?.documentValue ?? [:])
            isUnique = document["unique"]?.boolValue ?? false
            isSparse = document["sparse"]?.boolValue ?? false
            isCaseInsensitive = document["caseInsensitive"]?.boolValue ?? false
            partialFilter = document["partialFilter"]?.documentValue
            maxEntries = document["maxEntries"]?.intValue
            only = document["only"]?.arrayValue?.compactMap(\.stringValue) ?? []
            except = document["except"]?.arrayValue?.compactMap(\.stringValue) ?? []
            let isText = document["keys"]?.documentValue?.contains { $0.value == "text" } ?? false
            text = isText ? TextIndexOptions(document) : nil
            isMultikey = document["multikey"]?.boolValue ?? false
            entries = document["entries"]?.intValue ?? 0
        }
    }

    /// A path that an index sorts documents by.
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

        /// Whether both are the same, paths byte by byte.
        public static func == (a: Self, b: Self) -> Bool { a.path == b.path && a.direction == b.direction }

        /// The keys in a document of paths and directions.
        static func keys(_ document: BSONDocument) -> [IndexKey] {
            document.map { path, order in IndexKey(path, order.intValue == -1 ? .descending : .ascending) }
        }
    }
}
