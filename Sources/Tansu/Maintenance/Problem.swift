extension Database {
    /// A corruption that was detected.
    public struct Problem: Sendable, Hashable {
        /// The file, as it is called in the database's folder; empty when it concerns none.
        public let file: String

        /// The byte of the file where it begins; `nil` when it has no location.
        public let offset: Int64?

        /// How many bytes it concerns; `nil` when unknown.
        public let size: Int?

        /// The collection; `nil` when it concerns none.
        public let collection: String?

        /// The index; `nil` when it concerns none.
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

        /// The problems in a report.
        static func list(_ report: BSONDocument) -> [Problem] {
            (report["problems"]?.arrayValue ?? []).compactMap(\.documentValue).map(Problem.init)
        }
    }
}
