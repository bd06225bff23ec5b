import TansuObjects

/// Tansu with a model: a book has references to its author and its tags.
final class TansuLibrary: LibraryPeer {
    private let database: Database
    private let authors: Database.Collection<Author>
    private let books: Database.Collection<Book>

    init(folder: String) throws {
        database = try Database(path: folder + "/library.tansu", options: Database.Options(durability: .process))
        try database.use(
            Model {
                Entity("authors", of: Author.self, indexes: [Database.Index(on: \.name)])
                Entity("tags", of: Tag.self)
                Entity("books", of: Book.self, indexes: [Database.Index(on: \.year)])
                    .reference(\.author, to: "authors", onDelete: .cascade)
                    .reference(\.tags, to: "tags", onDelete: .nullify)
            })
        authors = try database.collection(of: Author.self)
        books = try database.collection(of: Book.self)
    }

    func load(_ library: Library) throws {
        try database.write { transaction in
            try transaction.collection(of: Author.self).insert(library.authors)
            try transaction.collection(of: Tag.self).insert(library.tags)
            try transaction.collection(of: Book.self).insert(library.books)
        }
    }

    func shelves() throws -> Answer {
        let found = try books.find().including(\.author).including(all: \.tags).all()
        return {
            Checksum.sum(of: found) { sum, shelf in
                sum.add(shelf.0)
                if let author = shelf.1 { sum.add(author) }
                sum.add(Checksum.sum(of: shelf.2) { $0.add($1) })
            }
        }
    }

    func works() throws -> Answer {
        let found = try authors.find().including(all: \Book.author).all()
        return {
            Checksum.sum(of: found) { sum, works in
                sum.add(works.0)
                sum.add(Checksum.sum(of: works.1) { $0.add($1) })
            }
        }
    }

    func books(byAuthor name: String) throws -> Answer {
        let found = try books.find { $0.author.name == name }.all()
        return { Checksum.sum(of: found) { $0.add($1) } }
    }

    func authors(since year: Int) throws -> Answer {
        let found = try authors.find { $0.inverse(\Book.author).contains { $0.year >= year } }.all()
        return { Checksum.sum(of: found) { $0.add($1) } }
    }

    func removeAuthors() throws -> Int {
        try authors.remove(authors.find())
        return try books.count()
    }

    func checkpoint() throws { try database.checkpoint() }
    func close() throws { try database.close() }
}

extension Checksum {
    fileprivate mutating func add(_ book: Book) { add(book: book.id, book.title, book.year, book.pages) }
}
