extension Database {
    /// A piece of a query's results, and how to go on.
    public struct Page<Element: Sendable>: Sendable {
        /// The documents of the page.
        public let elements: [Element]

        /// Where the next page begins; `nil` when this is the last.
        public let next: PageToken?
    }

    /// Where a page of results ended. A text to hand out and take back: what is in it is not for reading, but not
    /// secret either, for it has the values that the results are sorted by.
    ///
    /// It stays good whatever is written meanwhile, in other processes and after a restart.
    public struct PageToken: RawRepresentable, Codable, Hashable, Sendable {
        /// The text, of letters, digits, `-` and `_`.
        public let rawValue: String

        /// A token that was handed out before; whether it is one shows when it is used.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }
}
