extension Database {
    /// Where a database stores its documents.
    public enum Store: Sendable, Hashable {
        /// A folder. `~` at the beginning of a path, here and everywhere, is the user's home.
        case persistent(path: String)

        /// A new folder in `directory`, or in the system's temporary directory, that is removed on closing or when the process
        /// exits; after a crash, when the next one is made there.
        case temporary(in: String?)

        /// Memory, without any file.
        case memory

        /// A new folder in the system's temporary directory that is removed on closing or when the process exits; after a
        /// crash, when the next one is made there.
        public static var temporary: Store { .temporary(in: nil) }
    }
}
