extension Database {
    /// Something stored that does not check out.
    public struct Problem: Sendable, Hashable {
        /// The file, as it is called in the database's folder; empty when it is about none.
        public let file: String

        /// The byte of the file where it begins; `nil` when it is about no place.
        public let offset: Int64?

        /// How many bytes it is about; `nil` when that is not known.
        public let size: Int?

        /// The collection; `nil` when it is about none.
        public let collection: String?

        /// The index; `nil` when it is about none.
        public let index: String?

        /// One sentence: what is wrong.
        public let message: String

        init(_ document: BSONDocument) {
            file = document["file"]?.stringValue ?? ""
            offset = document["offset"]?.int64Value.flatMap { $0 < 0 ? nil : $0 }
            size = document["size"]?.intValue
            collection = document["collection"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
            index = document["index"]?.stringValue.flatMap { $0.isEmpty ? nil : $0 }
            message = document["message"]?.stringValue ?? ""
        }

        /// Those that a report lists.
        static func list(_ report: BSONDocument) -> [Problem] {
            (report["problems"]?.arrayValue ?? []).compactMap(\.documentValue).map(Problem.init)
        }
    }
}
