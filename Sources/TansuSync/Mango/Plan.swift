#if TansuSync
    import TansuBSON

    extension Mango {
        /// Which index serves a query, as CouchDB's planner chooses it, and what it thought of the others.
        package struct Plan: Sendable {
            let query: Query
            /// The index, or nil when none has the order of the query.
            package let index: Index?
            /// The ranges of the index's first columns; nil when the query finds nothing.
            package let ranges: [KeyRange]?
            /// Why the other indexes do not serve the query.
            let others: [Candidate]

            /// An index that was not chosen.
            struct Candidate: Sendable {
                let index: Index
                let isUsable: Bool
                let reason: Reason
                let ranking: Int
            }

            /// Why an index was not chosen, as CouchDB names it.
            enum Reason: String, Sendable {
                /// Another index serves more conditions.
                case lessOverlap = "less_overlap"
                /// Another index has fewer columns.
                case tooManyFields = "too_many_fields"
                /// Another index is the first by name.
                case comesAfter = "alphabetically_comes_after"
                /// There is a JSON index.
                case unfavoredType = "unfavored_type"
                /// The query names another index.
                case excludedByUser = "excluded_by_user"
                /// A document that matches may lack a column.
                case fieldMismatch = "field_mismatch"
                /// The index does not have the order of the query.
                case sortOrderMismatch = "sort_order_mismatch"
                /// The index is of one partition and the query is not, or the other way round.
                case scopeMismatch = "scope_mismatch"
                /// The index has only some documents, and the query does not name it.
                case isPartial = "is_partial"
            }
        }
    }
#endif
