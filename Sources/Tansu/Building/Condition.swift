extension Database {
    /// What a query by key path says: made by comparing fields, joined by `&&`, `||` and `!`.
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
