#if TansuSync
    import TansuBSON

    extension Mango.Plan {
        /// How many documents may be read for each result before CouchDB warns.
        private static let scanThreshold = 10.0

        /// The index that serves the query.
        ///
        /// - Throws: ``Mango/QueryError`` when there is none, or when the query allows only the one that it names.
        package func usableIndex() throws(Mango.QueryError) -> Mango.Index {
            guard let index else {
                throw Mango.QueryError(
                    "no_usable_index", "No index exists for this sort, try indexing by the sort fields.")
            }
            guard
                query.allowsFallback || index.isNamed(by: query.useIndex)
                    || (query.useIndex.isEmpty && !index.isSpecial)
            else {
                throw Mango.QueryError("invalid_index", fallbackReason)
            }
            return index
        }

        private var fallbackReason: String {
            switch query.useIndex.count {
            case 0: "You must specify an index with the `use_index` parameter."
            case 1: "\(designDocument) specified by `use_index` could not be found or it is not suitable."
            default:
                "\(designDocument), \(query.useIndex[1]) specified by `use_index` could not be found or it is not suitable."
            }
        }

        private var designDocument: String {
            let name = query.useIndex.first ?? ""
            return name.hasPrefix("_design/") ? name : "_design/\(name)"
        }

        /// CouchDB's warnings, one on each line, or nil.
        ///
        /// - Parameter hasIndex: Whether indexes serve the query although CouchDB's planner has none for it.
        package func warning(examined: Int, found: Int, hasIndex: Bool = false) -> String? {
            var warnings: [String] = []
            if let index, !query.useIndex.isEmpty, !index.isNamed(by: query.useIndex) {
                warnings.append(
                    query.useIndex.count == 1
                        ? "\(designDocument) was not used because it does not contain a valid index for this query."
                        : "\(designDocument), \(query.useIndex[1]) was not used because it is not a valid index for this query."
                )
            }
            if index?.isSpecial == true, !hasIndex {
                warnings.append("No matching index found, create an index to optimize query time.")
            }
            if Double(examined) / Double(max(1, found)) > Self.scanThreshold {
                warnings.append(
                    "The number of documents examined is high in proportion to the number of results returned. "
                        + "Consider adding a more specific index to improve this.")
            }
            return warnings.isEmpty ? nil : warnings.joined(separator: "\n")
        }
    }
#endif
