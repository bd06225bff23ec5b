#if TansuSync
    import TansuBSON

    extension Mango {
        /// A condition on documents, as CouchDB's `_find` has it.
        ///
        /// For example:
        /// ```swift
        /// let selector = try Mango.Selector(["age": ["$gt": 21], "tags": ["$elemMatch": ["$eq": "new"]]])
        /// try selector.matches(["age": 22, "tags": ["new"]])  // true
        /// ```
        package struct Selector: Sendable {
            let condition: Condition
            private let matcher: Matcher

            /// Reads a selector.
            ///
            /// - Throws: ``Mango/QueryError`` with CouchDB's name and reason.
            package init(_ document: BSONDocument) throws(QueryError) {
                do throws(CollationError) {
                    matcher = Matcher(collation: try Collation.shared())
                } catch {
                    throw QueryError(error)
                }
                guard !document.isEmpty else {
                    condition = .everything
                    return
                }
                var parser = ConditionParser()
                condition = try parser.parse(.document(document), at: "", depth: 1).normalized
                if case .field(let path, _) = condition, path.keys.isEmpty {
                    throw QueryError("invalid_selector", "One or more conditions is missing a field name.")
                }
            }

            /// Whether a document matches.
            ///
            /// - Throws: ``Mango/QueryError`` when a regular expression takes too long.
            package func matches(_ document: BSONDocument) throws(QueryError) -> Bool {
                try matcher.matches(condition, .document(document))
            }

            /// The normalised selector, as `_explain` shows it.
            package var json: BSONDocument { condition.json }

            var collation: Collation { matcher.collation }
        }
    }
#endif
