#if TansuSync
    import TansuBSON

    extension Mango {
        /// The body of a `_find` or `_explain` request.
        package struct Query: Sendable {
            /// Which documents.
            package let selector: Selector
            /// The index that the request names: a design document, and maybe a name.
            package let useIndex: [String]
            /// Where an earlier answer ended; nil for the beginning.
            package let bookmark: String?
            package let limit: Int64
            package let skip: Int64
            /// The order of the answer, empty for the order of the index.
            package let sort: Sort
            /// The fields of the answer, or nil for whole documents.
            package let fields: [FieldPath]?
            package let partition: String
            package let readQuorum: Int64
            package let includesConflicts: Bool
            package let isStale: Bool
            package let updatesIndex: Bool
            package let isStable: Bool
            package let includesStatistics: Bool
            /// Whether another index may serve the query when the one that it names cannot.
            package let allowsFallback: Bool

            /// How many documents an answer has when the request does not say.
            package static let defaultLimit: Int64 = 25
        }

        /// Fields to sort by, all in one direction.
        package struct Sort: Sendable, Hashable {
            package let fields: [String]
            package let isDescending: Bool

            package static func == (a: Self, b: Self) -> Bool {
                a.fields == b.fields && a.isDescending == b.isDescending
            }
        }
    }
#endif
