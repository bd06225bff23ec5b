extension Database {
    /// The progress of a long call.
    public struct Progress: Sendable, Hashable {
        /// How much is done, in units of the call, such as documents.
        public let done: Int

        /// About how many there are; `nil` when unknown.
        public let total: Int?

        /// The fraction that is done, 0 to 1; `nil` when unknown.
        public var fraction: Double? {
            total.map { $0 <= done ? 1 : Double(done) / Double($0) }
        }
    }
}
