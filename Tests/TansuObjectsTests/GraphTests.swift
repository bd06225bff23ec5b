import TansuObjects
import Testing

@Suite("Graphs and their changes")
struct GraphTests {
    let db: Database

    init() throws {
        db = try Database(.memory)
        try db.use(libraryModel())
    }

    @Test("A graph is saved in one commit, in any order, and only what has changed")
    func graph() async throws {
        var changes = db.objectChanges().makeAsyncIterator()
        let author = Author(name: "Ursula")
        var book = Book(title: "The Dispossessed", author: Reference(to: author))
        #expect(try await db.save(graph: [book, author]) == 2)
        let first = try await changes.next()
        #expect(first?.ids(\.inserted, in: "books") == [BSONValue(book.id)])
        #expect(first?.ids(\.inserted, in: "authors") == [BSONValue(author.id)])

        book.year = 1975
        #expect(try await db.save(graph: [book, author]) == 1)
        #expect(try await changes.next()?.updated == [ObjectKey(collection: "books", id: BSONValue(book.id))])
        #expect(try await db.save(graph: [book, author]) == 0)

        _ = try await db.collection(of: Book.self).remove(id: book.id)
        let last = try await changes.next()
        #expect(last?.deleted == [ObjectKey(collection: "books", id: BSONValue(book.id))])
        #expect(last?.inserted == [] && last?.updated == [])
    }

    @Test("A reference that leads nowhere fails the whole graph, and names itself")
    func dangling() throws {
        let author = Author(name: "Ursula", country: Reference(id: "us"))
        let error = #expect(throws: TansuError.self) { try db.save(graph: [author]) }
        #expect(error?.code == .notFound)
        #expect(error?.context == "countries us" || error?.context == "countries \"us\"")
        #expect(try db.collection(of: Author.self).find().count() == 0)
        try db.save(graph: [author, Country(id: "us", name: "United States")])
    }

    @Test("In a transaction a graph that fails leaves what was before")
    func transaction() throws {
        try db.write { transaction in
            try transaction.save(graph: [Tag(id: 1, name: "one")])
            #expect(throws: TansuError.self) {
                try transaction.save(graph: [Tag(id: 2, name: "two"), Author(name: "", country: Reference(id: "us"))])
            }
        }
        #expect(try db.collection(of: Tag.self).find().all().map(\.id) == [1])
    }

    @Test("A type that the model does not have is a typed error")
    func unknownType() throws {
        struct Other: Codable, Sendable, Identifiable { var id: Int }
        #expect(throws: TansuError.self) { try db.save(graph: [Other(id: 1)]) }
    }
}
