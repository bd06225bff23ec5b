import TansuObjects
import Testing

@Suite("Including what is referred to")
struct IncludingTests {
    let db: Database
    let books: Database.Collection<Book>
    let authors: Database.Collection<Author>
    let ursula = Author(name: "Ursula", country: Reference(id: "us"), born: 1929)
    let stanislaw = Author(name: "Stanisław", country: Reference(id: "pl"), born: 1921)
    let nobody = Author(name: "Nobody")

    init() throws {
        db = try Database(.memory)
        try db.use(libraryModel())
        books = try db.collection(of: Book.self)
        authors = try db.collection(of: Author.self)
        try db.save(graph: [
            Country(id: "us", name: "United States"), Country(id: "pl", name: "Poland"),
            Tag(id: 1, name: "novel"), Tag(id: 2, name: "classic"),
            ursula, stanislaw, nobody,
            Book(
                title: "The Dispossessed", year: 1974, author: Reference(to: ursula),
                tags: [.init(id: 2), .init(id: 1)]),
            Book(
                title: "Solaris", year: 1961, author: Reference(to: stanislaw), editor: Reference(to: ursula),
                tags: [.init(id: 1)]),
            Book(title: "The Lathe of Heaven", year: 1971, author: Reference(to: ursula)),
        ])
    }

    @Test("One, none and several, in one tuple")
    func parts() throws {
        let all = try books.find().sorted(by: \.year).including(\.author).including(\.editor).including(all: \.tags)
            .all()
        #expect(all.map(\.0.title) == ["Solaris", "The Lathe of Heaven", "The Dispossessed"])
        #expect(all.map(\.1) == [stanislaw, ursula, ursula])
        #expect(all.map(\.2) == [ursula, nil, nil])
        #expect(all.map { $0.3.map(\.name) } == [["novel"], [], ["classic", "novel"]])
    }

    @Test("Inverses, with an order, and counts")
    func inverses() throws {
        let all = try authors.find().sorted(by: \.name)
            .including(all: \Book.author) { try $0.sorted(by: \.year) }
            .including(all: \Book.editor)
            .annotated(with: .count(\Book.author) { $0.year > 1971 })
            .annotated(with: .of(\Book.author, .max(\.year)))
            .all()
        #expect(all.map(\.0) == [nobody, stanislaw, ursula])
        #expect(all.map { $0.1.map(\.title) } == [[], ["Solaris"], ["The Lathe of Heaven", "The Dispossessed"]])
        #expect(all.map { $0.2.map(\.title) } == [[], [], ["Solaris"]])
        #expect(all.map(\.3) == [0, 0, 1])
        #expect(all.map(\.4) == [nil, 1961, 1974])
    }

    @Test("Nested, both ways")
    func nested() throws {
        let book = try #require(
            try books.find { $0.title == "Solaris" }
                .including(\.author) { $0.including(\.country).including(all: \Book.author) }.first())
        #expect(book.1?.0 == stanislaw)
        #expect(book.1?.1?.name == "Poland")
        #expect(book.1?.2.map(\.title) == ["Solaris"])

        let tags = try db.collection(of: Tag.self).find().sorted(by: \.id)
            .including(all: \Book.tags) { $0.including(\.author) }.all()
        #expect(tags.map { Set($0.1.map(\.1?.name)) } == [["Ursula", "Stanisław"], ["Ursula"]])
    }

    @Test("References that lead nowhere are nil, or left out")
    func dangling() throws {
        try db.collection("books").save([
            "_id": 1, "title": "?", "year": 1, "author": .objectID(ObjectID()), "tags": [1, 77, 2],
        ])
        struct Row: Codable, Sendable, Identifiable { var id: Int }
        let found = try db.collection("books", of: LooseBook.self).find(["_id": 1])
            .including(\.author).including(all: \.tags).first()
        #expect(found?.1 == nil)
        #expect(found?.2.map(\.id) == [1, 2])
    }

    @Test("What is included is what Swift finds, on random data with references that lead nowhere or are there twice")
    func random() throws {
        var random = SystemRandomNumberGenerator()
        let tags = (1...6).map { Tag(id: $0, name: "tag \($0)") }
        let people = (0..<5).map { Author(name: "author \($0)") }
        let all = (0..<50).map { number in
            Book(
                title: "book \(number)", year: number, author: Reference(to: people.randomElement(using: &random)!),
                editor: [nil, Reference(to: people[0]), Reference(id: ObjectID())].randomElement(using: &random)!,
                tags: (0..<Int.random(in: 0...5)).map { _ in Reference(id: Int.random(in: 1...8)) })
        }
        let (tagCollection, stored) = (try db.collection(of: Tag.self), Array(all.prefix(40)))
        try books.remove([:])
        try tagCollection.remove([:])
        try authors.save(people)
        try tagCollection.save(tags)
        try books.save(stored)

        let found = try books.find().including(\.author).including(\.editor).including(all: \.tags).all()
        #expect(found.map(\.0) == stored)
        #expect(found.map(\.1) == stored.map { book in people.first { $0.id == book.author.id } })
        #expect(found.map(\.2) == stored.map { book in people.first { $0.id == book.editor?.id } })
        #expect(
            found.map(\.3) == stored.map { book in book.tags.compactMap { tag in tags.first { $0.id == tag.id } } })

        let byTag = try tagCollection.find().sorted(by: \.id).including(all: \Book.tags) { $0.including(\.editor) }
            .all()
        #expect(byTag.map(\.0) == tags)
        #expect(
            byTag.map { $0.1.map(\.0) }
                == tags.map { tag in stored.filter { $0.tags.contains(Reference(to: tag)) } })
        #expect(byTag.flatMap(\.1).allSatisfy { book, editor in editor == people.first { $0.id == book.editor?.id } })
    }

    @Test("What the elements of an array refer to, each once, in their order")
    func elements() throws {
        struct Line: Codable, Sendable, Hashable {
            var tag: Reference<Tag>?
            var others: [Reference<Tag>] = []
        }
        struct List: Codable, Sendable, Identifiable, Hashable {
            var id: Int
            var lines: [Line]
            var author: Reference<Author>?
        }
        let db = try Database(.memory)
        try db.use(
            Model {
                Entity("tags", of: Tag.self)
                Entity("countries", of: Country.self)
                Entity("authors", of: Author.self).reference(\.country, to: "countries")
                Entity("lists", of: List.self)
                    .reference(\.lines, \.tag, to: "tags")
                    .reference(\.lines, \.others, to: "tags")
                    .reference(\.author, to: "authors")
            })
        let tags = (1...4).map { Tag(id: $0, name: "tag \($0)") }
        try db.collection(of: Tag.self).save(tags)
        try db.collection(of: Author.self).save(ursula)
        func line(_ tag: Int?, _ others: Int...) -> Line {
            Line(tag: tag.map { Reference(id: $0) }, others: others.map { Reference(id: $0) })
        }
        let lists = try db.collection(of: List.self)
        try lists.save([
            List(
                id: 1, lines: [line(3), line(nil, 1), line(9), line(1, 4, 4), line(3)], author: Reference(to: ursula)),
            List(id: 2, lines: []), List(id: 3, lines: [line(nil)]),
        ])
        let all = try lists.find().including(all: \.lines, \.tag).including(\.author)
            .including(all: \.lines, \.others).all()
        #expect(all.map { $0.1.map(\.id) } == [[3, 1], [], []])
        #expect(all.map(\.2) == [ursula, nil, nil])
        #expect(all.map { $0.3.map(\.id) } == [[1, 4], [], []])
    }

    @Test("The elements of an array that may be nil have references as others do")
    func optionalElements() throws {
        struct Line: Codable, Sendable, Hashable { var tag: Reference<Tag>? }
        struct List: Codable, Sendable, Identifiable, Hashable {
            var id: Int
            var lines: [Line]?
        }
        let db = try Database(.memory)
        try db.use(
            Model {
                Entity("tags", of: Tag.self)
                Entity("lists", of: List.self).reference(\.lines, \.tag, to: "tags", onDelete: .nullify)
            })
        let tags = try db.collection(of: Tag.self)
        try tags.save([Tag(id: 1, name: "a"), Tag(id: 2, name: "b")])
        let lists = try db.collection(of: List.self)
        try lists.save([
            List(id: 1, lines: [Line(tag: Reference(id: 2))]), List(id: 2, lines: nil), List(id: 3, lines: []),
        ])
        let all = try lists.find().including(all: \.lines, \.tag).all()
        #expect(all.map { $0.1.map(\.id) } == [[2], [], []])
        #expect(
            try lists.find().including(all: \.lines, \.tag).including(all: \.lines, \.tag).all().first?.2.count == 1)
        try tags.remove(id: 2)
        #expect(try lists.get(1)?.lines == [Line(tag: nil)])
        #expect(try lists.get(2)?.lines == nil)
    }

    @Test("Everything is read in one snapshot")
    func snapshot() throws {
        let (books, db, ursula) = (books, db, ursula)
        let found = try db.read { transaction in
            try db.write { other in
                try other.collection("books").remove([:])
                try other.collection("authors").remove([:])
            }
            return try transaction.collection(of: Book.self).find().including(\.author).all()
        }
        #expect(found.count == 3 && found.contains { $0.1 == ursula })
        #expect(try books.find().including(\.author).all().isEmpty)
    }

    @Test("References resolve alone and in batches, and in transactions")
    func resolving() async throws {
        let all = try await books.find().all()
        #expect(try await all[0].author(in: db) == ursula)
        #expect(try await Reference<Author>(id: ObjectID()).resolve(in: db) == nil)
        let found = try await all.map(\.author).resolved(in: db)
        #expect(found == [ursula.id: ursula, stanislaw.id: stanislaw])
        let editors = try await all.map(\.editor).resolved(in: db)
        #expect(Array(editors.values) == [ursula])
        let solaris = Reference<Author>(to: stanislaw)
        #expect(try await db.read { transaction in try await solaris(in: transaction)?.name } == "Stanisław")
    }

    @Test("The async variants give the same, and skip and limit hold for the query")
    func asynchronous() async throws {
        let query = try books.find().sorted(by: \.title)
        #expect(try await query.including(\.author).all().map(\.1) == [stanislaw, ursula, ursula])
        #expect(try await query.skip(1).limit(1).including(\.author).all().map(\.0.title) == ["The Dispossessed"])
        #expect(try await query.including(\.author).first()?.1 == stanislaw)
    }

    @Test("Without a model, or for a type that it does not have, there is a typed error")
    func noModel() throws {
        let plain = try Database(.memory).collection("books", of: Book.self)
        try plain.save(Book(title: "", author: Reference(to: ursula)))
        #expect(throws: TansuError.self) { try plain.find().including(\.author).all() }
    }
}

struct LooseBook: Codable, Sendable, Identifiable {
    var id: Int
    var author: Reference<Author>
    var tags: [Reference<Tag>]
}
