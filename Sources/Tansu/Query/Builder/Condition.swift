extension Database {
    /// A condition of a query by key path: comparisons of fields, combined by `&&`, `||` and `!`.
    public struct Condition: Sendable {
        let clause: Clause

        init(_ clause: Clause) {
            self.clause = clause
        }

        /// Both hold.
        public static func && (a: Condition, b: Condition) -> Condition { Condition(a.clause && b.clause) }

        /// One of the two holds, or both.
        public static func || (a: Condition, b: Condition) -> Condition { Condition(a.clause || b.clause) }

        /// It does not hold.
        public static prefix func ! (condition: Condition) -> Condition { Condition(!condition.clause) }
    }
}
