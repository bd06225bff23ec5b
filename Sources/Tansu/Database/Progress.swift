extension Database {
    /// How much of a long call is done.
    public struct Progress: Sendable, Hashable {
        /// What is done, in the units that the call says, such as documents.
        public let done: Int

        /// About how many there are; `nil` when that is not known.
        public let total: Int?

        /// What part is done, 0 to 1; `nil` when that is not known.
        public var fraction: Double? {
            total.map { $0 <= done ? 1 : Double(done) / Double($0) }
        }
    }
}
