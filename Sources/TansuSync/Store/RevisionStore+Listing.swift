#if TansuSync
    import Tansu
    import TansuBSON

    extension RevisionStore {
        /// The documents whose last change is before an update sequence, the newest first.
        ///
        /// - Parameter limit: The greatest number of records.
        package func changes(before sequence: Int64, limit: Int) throws -> Records {
            let hints: BSONDocument = ["$orderby": ["seq": -1], "$max": BSONValue(limit)]
            return Records([try records.find(["seq": ["$lt": .int64(sequence)]], hints: hints).makeCursor()])
        }

        /// How many documents that are not deleted have ids before an id, or after it.
        package func documentCount(before id: String, isDescending: Bool) throws -> Int {
            if isUnrecorded { return try unrecordedCount(before: id, isDescending: isDescending) }
            let filter: BSONDocument = ["_id": [isDescending ? "$gt" : "$lt": .string(id)]]
            return try records.count(BSONDocument(joining: filter, ["deleted": false]))
        }
    }
#endif
