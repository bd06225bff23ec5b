import GRDB

/// A book as a row. Its tags are in a table of their own.
private struct BookRecord: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "book"
    static let author = belongsTo(Author.self)
    static let bookTags = hasMany(BookTag.self)
    static let tags = hasMany(Tag.self, through: bookTags, using: BookTag.tag)

    var id: Int
    var title: String
    var year: Int
    var pages: Int
    var authorId: Int
}

/// That a book has a tag.
private struct BookTag: Codable, FetchableRecord, PersistableRecord {
    static let databaseTableName = "bookTag"
    static let tag = belongsTo(Tag.self)

    var bookId: Int
    var tagId: Int
}

extension Author: FetchableRecord, PersistableRecord {
    static let databaseTableName = "author"
    fileprivate static let books = hasMany(BookRecord.self)
}

extension Tag: FetchableRecord, PersistableRecord {
    static let databaseTableName = "tag"
}

/// A book with its author and its tags.
private struct Shelf: Decodable, FetchableRecord {
    var book: BookRecord
    var author: Author
    var tags: [Tag]
}

/// An author with their books.
private struct Works: Decodable, FetchableRecord {
    var author: Author
    var books: [BookRecord]
}

/// GRDB's associations as its documentation recommends: foreign keys with indexes, a table between books and tags, structs
/// for the results of joins. The pool is that of the other rows.
final class GRDBLibrary: LibraryPeer {
    private let pool: DatabasePool

    init(folder: String) throws {
        pool = try GRDBPeer.pool(folder + "/library.sqlite", .process)
        try pool.write { database in
            try database.create(table: "author") { table in
                table.column("id", .integer).primaryKey()
                table.column("name", .text).notNull().indexed()
                table.column("country", .text).notNull()
            }
            try database.create(table: "tag") { table in
                table.column("id", .integer).primaryKey()
                table.column("title", .text).notNull()
            }
            try database.create(table: "book") { table in
                table.column("id", .integer).primaryKey()
                table.column("title", .text).notNull()
                table.column("year", .integer).notNull().indexed()
                table.column("pages", .integer).notNull()
                table.belongsTo("author", onDelete: .cascade).notNull()
            }
            try database.create(table: "bookTag") { table in
                table.primaryKey {
                    table.belongsTo("book", onDelete: .cascade)
                    table.belongsTo("tag", onDelete: .cascade)
                }
            }
        }
    }

    func load(_ library: Library) throws {
        try pool.write { database in
            for author in library.authors { try author.insert(database) }
            for tag in library.tags { try tag.insert(database) }
            for book in library.books {
                try BookRecord(
                    id: book.id, title: book.title, year: book.year, pages: book.pages, authorId: book.author.id
                ).insert(database)
                for tag in book.tags { try BookTag(bookId: book.id, tagId: tag.id).insert(database) }
            }
        }
    }

    func shelves() throws -> Answer {
        let found = try pool.read { database in
            try BookRecord.including(required: BookRecord.author).including(all: BookRecord.tags)
                .asRequest(of: Shelf.self).fetchAll(database)
        }
        return {
            Checksum.sum(of: found) { sum, shelf in
                sum.add(shelf.book)
                sum.add(shelf.author)
                sum.add(Checksum.sum(of: shelf.tags) { $0.add($1) })
            }
        }
    }

    func works() throws -> Answer {
        let found = try pool.read { database in
            try Author.including(all: Author.books).asRequest(of: Works.self).fetchAll(database)
        }
        return {
            Checksum.sum(of: found) { sum, works in
                sum.add(works.author)
                sum.add(Checksum.sum(of: works.books) { $0.add($1) })
            }
        }
    }

    func books(byAuthor name: String) throws -> Answer {
        let found = try pool.read { database in
            try BookRecord.joining(required: BookRecord.author.filter(Column("name") == name)).fetchAll(database)
        }
        return { Checksum.sum(of: found) { $0.add($1) } }
    }

    func authors(since year: Int) throws -> Answer {
        let found = try pool.read { database in
            // Faster than `having(Author.books.filter(…).isEmpty == false)`, and than `filter(books.exists())`.
            try Author.joining(required: Author.books.filter(Column("year") >= year)).distinct().fetchAll(database)
        }
        return { Checksum.sum(of: found) { $0.add($1) } }
    }

    func removeAuthors() throws -> Int {
        try pool.write { _ = try Author.deleteAll($0) }
        return try pool.read { try BookRecord.fetchCount($0) }
    }

    func checkpoint() throws { _ = try pool.writeWithoutTransaction { try $0.checkpoint(.truncate) } }
    func close() throws { try pool.close() }
}

extension Checksum {
    fileprivate mutating func add(_ book: BookRecord) { add(book: book.id, book.title, book.year, book.pages) }
}
