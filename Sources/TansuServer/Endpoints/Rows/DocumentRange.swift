#if TansuServer
    import TansuBSON
    import TansuSync

    /// A range of ids in the order of a listing.
    struct DocumentRange: Sendable {
        var lower: String?
        var includesLower = true
        var upper: String?
        var includesUpper = true
        var isDescending: Bool

        /// The range of a query. As in CouchDB each key that is no text comes before every id.
        init(_ query: RowsQuery, _ scope: DocumentScope) {
            isDescending = query.isDescending
            let start = query.startKey ?? query.startID.map { .string($0) }
            let end = query.endKey ?? query.endID.map { .string($0) }
            if isDescending { includesLower = query.includesEnd } else { includesUpper = query.includesEnd }
            lower = (isDescending ? end : start)?.stringValue
            if let bound = isDescending ? start : end {
                upper = bound.stringValue ?? ""
                if bound.stringValue == nil { includesUpper = false }
            }
            guard scope == .designs else { return }
            narrow(from: DocumentName.designPrefix, to: Self.afterDesigns)
        }

        /// The least text that is greater than all ids of design documents.
        private static let afterDesigns = "_design0"

        private mutating func narrow(from first: String, to last: String) {
            if lower.map({ Self.precedes($0, first) }) ?? true { (lower, includesLower) = (first, true) }
            if upper.map({ Self.precedes(last, $0) }) ?? true { (upper, includesUpper) = (last, false) }
        }

        private static func precedes(_ a: String, _ b: String) -> Bool { a.utf8.lexicographicallyPrecedes(b.utf8) }

        /// Whether it is a bound that does not belong to the range.
        func excludes(_ id: String) -> Bool { (!includesLower && id == lower) || (!includesUpper && id == upper) }

        func contains(_ id: String) -> Bool {
            if let lower {
                if Self.precedes(id, lower) || (!includesLower && id.utf8.elementsEqual(lower.utf8)) { return false }
            }
            if let upper {
                if Self.precedes(upper, id) || (!includesUpper && id.utf8.elementsEqual(upper.utf8)) { return false }
            }
            return true
        }

        /// What is left of the range after an id.
        func after(_ id: String) -> DocumentRange {
            var rest = self
            if isDescending {
                (rest.upper, rest.includesUpper) = (id, false)
            } else {
                (rest.lower, rest.includesLower) = (id, false)
            }
            return rest
        }
    }
#endif
