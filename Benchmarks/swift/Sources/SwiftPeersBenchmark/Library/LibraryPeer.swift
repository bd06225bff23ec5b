/// What a query found: computes, after the clock has stopped, a number of every value, whatever their order.
typealias Answer = () -> Int

/// A library under test, with a database of books, authors and tags; durability `process`.
protocol LibraryPeer: Closable, AnyObject, Sendable {
    init(folder: String) throws
    /// Saves all in one transaction.
    func load(_ library: Library) throws
    /// All books, each with its author and its tags.
    func shelves() throws -> Answer
    /// All authors, each with their books.
    func works() throws -> Answer
    /// The books of the author of a name.
    func books(byAuthor name: String) throws -> Answer
    /// The authors of a book of a year or later.
    func authors(since year: Int) throws -> Answer
    /// Removes all authors, and with them their books, in one commit. Returns how many books are left.
    func removeAuthors() throws -> Int
    func checkpoint() throws
}

/// Adds what can be compared.
struct Checksum {
    private(set) var value = 0

    mutating func add(_ number: Int) { value = value &* 1_000_003 &+ number }
    mutating func add(_ text: String) { value = text.utf8.reduce(value) { $0 &* 33 &+ Int($1) } }

    mutating func add(_ author: Author) {
        add(author.id)
        add(author.name)
        add(author.country)
    }

    mutating func add(_ tag: Tag) {
        add(tag.id)
        add(tag.title)
    }

    /// The fields of a book that are the same types in both.
    mutating func add(book id: Int, _ title: String, _ year: Int, _ pages: Int) {
        add(id)
        add(title)
        add(year)
        add(pages)
    }

    /// The sum of the checksums of elements, whatever their order.
    static func sum<Elements: Sequence>(
        of elements: Elements, _ body: (inout Checksum, Elements.Element) -> Void
    ) -> Int {
        elements.reduce(0) { sum, element in
            var one = Checksum()
            body(&one, element)
            return sum &+ one.value
        }
    }
}
