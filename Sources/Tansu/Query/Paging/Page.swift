extension Database {
    /// A page of a query's results, and the token of the next one.
    public struct Page<Element: Sendable>: Sendable {
        /// The documents of the page.
        public let elements: [Element]

        /// The token for the next page; `nil` when this is the last.
        public let next: PageToken?
    }

    /// The end of a page of results, as opaque text. It is not encrypted: it has the sort key of the last document.
    ///
    /// It stays valid after writes, in other processes and after a restart.
    public struct PageToken: RawRepresentable, Codable, Hashable, Sendable {
        /// The text, of letters, digits, `-` and `_`.
        public let rawValue: String

        /// A token from its text; it is validated when it is used.
        public init(rawValue: String) {
            self.rawValue = rawValue
        }
    }
}

extension Database.Page: Sequence {
    /// Iterates over the documents of the page.
    public func makeIterator() -> IndexingIterator<[Element]> { elements.makeIterator() }
}
