extension Database {
    /// A condition of a query by key path: comparisons of fields, combined by `&&`, `||` and `!`.
    public struct Condition: Sendable {
        let clause: Clause

        init(_ clause: Clause) {
            self.clause = clause
        }

        /// A part of the query as a document, for operators that properties do not have:
        /// `$0.age > 10 && .raw(["name": ["$strand": ["mike", "lena"]]])`.
        ///
        /// Its paths are stored names and begin in the document or, inside `contains` and `allSatisfy`, in the element.
        ///
        /// - Parameter query: The document; an empty one matches all.
        public static func raw(_ query: BSONDocument) -> Condition {
            Condition(query.isEmpty ? .constant(true) : .document(query))
        }

        /// A condition that cannot be made: the query throws the error.
        package static func failing(_ error: any Error) -> Condition {
            Condition(.failure(error as? TansuError ?? TansuError(.invalidQuery, failureReason(of: error))))
        }

        /// Both hold.
        public static func && (a: Condition, b: Condition) -> Condition { Condition(a.clause && b.clause) }

        /// One of the two holds, or both.
        public static func || (a: Condition, b: Condition) -> Condition { Condition(a.clause || b.clause) }

        /// It does not hold.
        public static prefix func ! (condition: Condition) -> Condition { Condition(!condition.clause) }
    }
}
