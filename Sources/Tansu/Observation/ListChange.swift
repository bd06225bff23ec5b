extension Database {
    /// One step from a list to the next one.
    ///
    /// Indices of removed elements, and those where moved elements were, are of the old list; all others are of the new
    /// list, as table views expect.
    public enum ListChange: Sendable, Hashable {
        /// An element of the old list is not in the new one.
        case removed(at: Int)

        /// An element of the new list was not in the old one.
        case inserted(at: Int)

        /// An element passed others that are in both lists.
        case moved(from: Int, to: Int)

        /// An element's document has changed. It may have moved as well.
        case updated(at: Int)
    }

    /// The result of an observed query, and its difference to the previous one.
    public struct ListUpdate<Element: Sendable>: Sendable {
        /// The whole new list.
        public let elements: [Element]

        /// The steps to it; of the first list all its elements are inserted.
        public let changes: [ListChange]
    }
}
