import TansuObjects

/// A library's books, each by an author and with three tags: what rows with references store.
struct Library: Sendable {
    static let booksPerAuthor = 10
    static let tagsPerBook = 3
    /// An author's books are of the 30 years after one of these.
    static let years = 1850..<1990

    let authors: [Author]
    let tags: [Tag]
    let books: [Book]

    init(books count: Int, tagsPerBook: Int = Library.tagsPerBook) {
        var random = Random(state: 7)
        let authorCount = count / Self.booksPerAuthor
        let tagCount = max(count / 100, Self.tagsPerBook)
        authors = (1...authorCount).map { number in
            Author(
                id: number, name: "Author of number \(10_000 + number)",
                country: "Country \(Int.random(in: 10..<60, using: &random))")
        }
        tags = (1...tagCount).map { Tag(id: $0, title: "tag of number \(1000 + $0)") }
        let firstYears = authors.map { _ in Int.random(in: Self.years, using: &random) }
        let writers = (0..<count).map { $0 / Self.booksPerAuthor }.shuffled(using: &random)
        books = writers.enumerated().map { number, writer in
            var tags: Set<Int> = []
            while tags.count < tagsPerBook { tags.insert(Int.random(in: 1...tagCount, using: &random)) }
            return Book(
                id: number + 1, title: "The book of number \(1_000_000 + number)",
                year: firstYears[writer] + Int.random(in: 0..<30, using: &random),
                pages: Int.random(in: 60..<900, using: &random), author: Reference(id: writer + 1),
                tags: tags.sorted().map { Reference(id: $0) })
        }
    }
}

struct Author: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var name: String
    var country: String
}

struct Tag: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var title: String
}

struct Book: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var title: String
    var year: Int
    var pages: Int
    var author: Reference<Author>
    var tags: [Reference<Tag>]
}
