extension Database {
    /// Where a database keeps its documents.
    public enum Store: Sendable, Hashable {
        /// A folder that stays.
        case persistent(path: String)

        /// A new folder, in `directory` or the system's place for such, that is removed on closing.
        case temporary(in: String?)

        /// No files at all.
        case memory

        /// A new folder in the system's place for such that is removed on closing.
        public static var temporary: Store { .temporary(in: nil) }
    }
}
