extension Database {
    /// The fields in which the engine keeps when a document was inserted and when it was last saved.
    ///
    /// ```swift
    /// try db.setTimestamps(Database.Timestamps(), of: "notes")
    /// let recent = try db.collection("notes").find(savedAfter: Date(timeIntervalSinceNow: -3600)).all()
    /// ```
    ///
    /// Every save sets them in the same commit, whichever way it comes and whatever the document says. A type may have
    /// properties of these names, optional ones for values that are not saved yet.
    public struct Timestamps: Sendable, Hashable, Codable {
        /// The field with the date of insertion, which later saves keep; `nil` for none.
        public var created: String?

        /// The field with the date of the last save; `nil` for none.
        public var updated: String?

        /// The fields, of which there must be one.
        ///
        /// - Parameters:
        ///   - created: 1 to 120 bytes, without a dot.
        ///   - updated: The same.
        public init(created: String? = "createdAt", updated: String? = "updatedAt") {
            self.created = created
            self.updated = updated
        }

        /// Whether both are the same, names byte by byte.
        public static func == (a: Self, b: Self) -> Bool { a.created == b.created && a.updated == b.updated }
    }
}
