import Foundation
import TansuObjects
import Testing

@Suite("References")
struct ReferenceTests {
    let db: Database
    let books: Database.Collection<Book>
    let authors: Database.Collection<Author>

    init() throws {
        db = try Database(.memory)
        try db.use(libraryModel())
        books = try db.collection(of: Book.self)
        authors = try db.collection(of: Author.self)
    }

    @Test("A reference is stored as the bare id")
    func bareID() throws {
        let author = Author(name: "Ursula")
        let book = Book(title: "The Dispossessed", author: Reference(to: author))
        let document = try BSONEncoder().encode(book)
        #expect(document["author"] == BSONValue(author.id))
        #expect(try BSONDecoder().decode(Book.self, from: document) == book)
    }

    @Test("A reference is coded as its id, whatever the type of that, and by any coder")
    func typesOfIDs() throws {
        struct Referring<ID: Codable & Hashable & Sendable>: Codable, Hashable {
            struct Target: Codable, Identifiable { var id: ID }
            var one: Reference<Target>
            var other: Reference<Target>?
            var several: [Reference<Target>]
            var set: Set<Reference<Target>>
        }
        struct Plain<ID: Codable & Hashable>: Codable {
            var one: ID
            var other: ID?
            var several: [ID]
            var set: Set<ID>
        }
        func check<ID: Codable & Hashable & Sendable>(
            _ a: ID, _ b: ID, _ location: SourceLocation = #_sourceLocation
        ) throws {
            for other in [nil, b] {
                let value = Referring<ID>(
                    one: Reference(id: a), other: other.map { Reference(id: $0) },
                    several: [a, b, a].map { Reference(id: $0) }, set: [Reference(id: b)])
                let plain = Plain(one: a, other: other, several: [a, b, a], set: [b])
                let document = try BSONEncoder().encode(value)
                #expect(try document == BSONEncoder().encode(plain), sourceLocation: location)
                #expect(
                    try BSONDecoder().decode(Referring<ID>.self, from: document) == value, sourceLocation: location)
                let json = try JSONEncoder().encode(value)
                #expect(
                    try JSONDecoder().decode(Referring<ID>.self, from: json) == value, sourceLocation: location)
            }
        }
        try check(1, -2)
        try check("one" as String, "a text that is longer than fifteen bytes")
        try check(ObjectID(), ObjectID())
        try check(UUID(), UUID())
        try check(UInt8(1), UInt8(255))
        try check(true, false)
        try check(1.5, -0.25)
        try check(Date(timeIntervalSince1970: 1.5), Date(timeIntervalSince1970: -1))
        try check(BSONValue.string("a"), 1)
        // Stored as a document, which the coders do not know themselves.
        struct Pair: Codable, Hashable { var left: Int, right: String }
        try check(Pair(left: 1, right: "a"), Pair(left: 2, right: "b"))
        enum Kind: String, Codable { case first, second }
        try check(Kind.first, .second)

        let wrong: BSONDocument = ["one": 1, "several": [1, "two"], "set": []]
        let error = #expect(throws: DecodingError.self) {
            try BSONDecoder().decode(Referring<Int>.self, from: wrong)
        }
        guard case .typeMismatch(_, let context)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(context.codingPath.first?.stringValue == "several" && context.codingPath.last?.intValue == 1)
    }

    @Test("Queries through references, both ways and to any depth, are those of Swift on random data")
    func queries() throws {
        var random = SystemRandomNumberGenerator()
        let countries = [Country(id: "us", name: "United States"), Country(id: "pl", name: "Poland")]
        let tags = (0..<4).map { Tag(id: $0, name: "tag \($0)") }
        let people = (0..<12).map { number in
            Author(
                name: "author \(number % 5)",
                country: [nil, Reference(id: "us"), Reference(id: "pl"), Reference(id: "gone")].randomElement(
                    using: &random)!,
                born: Bool.random() ? 1900 + number : nil)
        }
        let all = (0..<60).map { number in
            Book(
                title: "book \(number)", year: 1950 + number % 40,
                author: Bool.random()
                    ? Reference(to: people.randomElement(using: &random)!) : Reference(id: ObjectID()),
                editor: Bool.random() ? Reference(to: people.randomElement(using: &random)!) : nil,
                tags: tags.filter { _ in Bool.random() }.map { Reference(to: $0) })
        }
        try db.collection(of: Country.self).save(countries)
        try db.collection(of: Tag.self).save(tags)
        try authors.save(people)
        try books.save(all)
        func author(_ reference: Reference<Author>?) -> Author? { people.first { $0.id == reference?.id } }
        func country(_ author: Author?) -> Country? { countries.first { $0.id == author?.country?.id } }

        func check(
            _ condition: (Database.Field<Book>) -> Database.Condition, _ expected: (Book) -> Bool,
            _ location: SourceLocation = #_sourceLocation
        ) throws {
            let found = try books.find(condition).all().map(\.title)
            #expect(found == all.filter(expected).map(\.title), sourceLocation: location)
        }
        try check({ $0.author.name == "author 1" }, { author($0.author)?.name == "author 1" })
        try check({ $0.author.name != "author 1" }, { author($0.author)?.name != "author 1" })
        try check({ !($0.author.name == "author 1") }, { author($0.author)?.name != "author 1" })
        try check({ $0.author.born == nil }, { author($0.author)?.born == nil })
        try check({ $0.author.born != nil }, { author($0.author)?.born != nil })
        try check({ $0.author.born > 1905 }, { (author($0.author)?.born ?? 0) > 1905 })
        try check({ $0.editor.name == "author 2" }, { author($0.editor)?.name == "author 2" })
        try check({ $0.editor.name != "author 2" }, { author($0.editor)?.name != "author 2" })
        try check({ $0.editor.name.hasPrefix("author") }, { author($0.editor)?.name.hasPrefix("author") ?? false })
        try check({ $0.author.country.name == "Poland" }, { country(author($0.author))?.name == "Poland" })
        try check({ $0.author.country.name != "Poland" }, { country(author($0.author))?.name != "Poland" })
        try check({ $0.author.country.id == "us" }, { author($0.author)?.country?.id == "us" })
        try check({ $0.author.id == people[3].id }, { $0.author.id == people[3].id })
        try check({ $0.author == Reference(to: people[4]) }, { $0.author.id == people[4].id })
        try check({ $0.editor == nil }, { $0.editor == nil })
        try check({ $0.tags.contains(Reference(id: 2)) }, { $0.tags.contains(Reference(id: 2)) })
        try check(
            { $0.tags.contains { $0.name == "tag 1" || $0.name == "tag 3" } },
            { $0.tags.contains { $0.id == 1 || $0.id == 3 } })
        try check({ $0.tags.allSatisfy { $0.name != "tag 1" } }, { $0.tags.allSatisfy { $0.id != 1 } })
        try check(
            { $0.author.name == "author 1" && $0.year > 1960 || $0.tags.isEmpty },
            { author($0.author)?.name == "author 1" && $0.year > 1960 || $0.tags.isEmpty })

        let late = try authors.find { $0.isReferenced(by: \.author, in: books) { $0.year > 1970 } }.all().map(\.id)
        #expect(late == people.filter { one in all.contains { $0.author.id == one.id && $0.year > 1970 } }.map(\.id))
        let same = try authors.find { $0.inverse(\Book.author).contains { $0.year > 1970 } }.all().map(\.id)
        #expect(same == late)
        let idle = try authors.find { $0.inverse(\Book.author).isEmpty }.all().map(\.id)
        #expect(idle == people.filter { one in !all.contains { $0.author.id == one.id } }.map(\.id))
        let colleagues = try books.find { $0.author.inverse(\Book.editor).contains { $0.year > 1960 } }.all().map(
            \.title)
        #expect(
            colleagues
                == all.filter { book in
                    author(book.author) != nil && all.contains { $0.editor?.id == book.author.id && $0.year > 1960 }
                }.map(\.title))
    }

    @Test("A query through a reference uses indexes on both sides, and explains both steps")
    func explained() throws {
        try authors.ensureIndex(on: \.name)
        try authors.save((0..<300).map { Author(name: "author \($0)") })
        let all = try authors.find().all()
        try books.save((0..<3000).map { Book(title: "book \($0)", author: Reference(to: all[$0 % 300])) })
        let query = try books.find { $0.author.name == "author 7" }
        #expect(try query.count() == 10)
        let text = "\(try query.explain().document)"
        #expect(text.contains("subqueries"))
        // Of the books and, inside, of the authors.
        #expect(text.hasPrefix("{\"plan\":{\"kind\":\"index\",\"index\":\"author_1\""), "\(text)")
        #expect(text.contains("\"plan\":{\"kind\":\"index\",\"index\":\"name_1\""), "\(text)")
    }

    @Test("Observed queries notice changes of the documents that they reach by references")
    func observed() async throws {
        let author = Author(name: "Ursula")
        try await db.save(graph: [author, Book(title: "one", author: Reference(to: author))])
        var lists = try books.find { $0.author.name == "Stanisław" }.observe().makeAsyncIterator()
        #expect(try await lists.next()?.isEmpty == true)
        try await authors.update(id: author.id) { $0.name = "Stanisław" }
        #expect(try await lists.next()?.map(\.title) == ["one"])
    }

    @Test("Query documents go on after a reference, in every call that takes a query")
    func documents() throws {
        let country = Country(id: "pl", name: "Poland")
        let lem = Author(name: "Stanisław", country: Reference(to: country), born: 1921)
        let ursula = Author(name: "Ursula", born: 1929)
        let tag = Tag(id: 1, name: "classic")
        try db.save(graph: [
            country, lem, ursula, tag, Book(title: "Solaris", author: Reference(to: lem), tags: [Reference(to: tag)]),
            Book(title: "The Dispossessed", author: Reference(to: ursula), editor: Reference(to: lem)),
        ])
        func titles(_ query: BSONDocument) throws -> [String] { try books.find(query).all().map(\.title).sorted() }
        #expect(try titles(["author.name": "Stanisław"]) == ["Solaris"])
        #expect(try titles(["author.country.name": "Poland"]) == ["Solaris"])
        #expect(try titles(["author.country.name": ["$ne": "Poland"]]) == ["The Dispossessed"])
        #expect(try titles(["tags": ["$elemMatch": ["name": "classic"]]]) == ["Solaris"])
        #expect(try titles(["$or": [["editor.born": 1921], ["author.born": ["$lt": 1900]]]]) == ["The Dispossessed"])
        // They select what key paths do.
        #expect(
            try titles(["editor.born": .null]) == books.find { $0.editor.born == nil }.all().map(\.title).sorted())
        #expect(try books.find(["author.name": "Ursula"]).count() == 1)
        #expect(try books.update(["author.name": "Ursula"], ["$set": ["year": 1975]]).modified == 1)
        #expect(try books.find(["author.born": 1929]).all().map(\.year) == [1975])
        #expect(try "\(books.find(["author.name": "Ursula"]).explain().document)".contains("subqueries"))
    }

    @Test("Observed query documents notice changes of what they reach by references")
    func observedDocuments() async throws {
        let author = Author(name: "Ursula")
        try await db.save(graph: [author, Book(title: "one", author: Reference(to: author))])
        var lists = books.find(["author.name": "Stanisław"]).observe().makeAsyncIterator()
        let query: BSONDocument = ["author.name": "Stanisław"]
        var counts = db.observe { try $0.collection("books").find(query).count() }.makeAsyncIterator()
        #expect(try await lists.next()?.isEmpty == true)
        #expect(try await counts.next() == 0)
        try await authors.update(id: author.id) { $0.name = "Stanisław" }
        #expect(try await lists.next()?.map(\.title) == ["one"])
        #expect(try await counts.next() == 1)
    }

    @Test("A property that is no declared reference is a typed error")
    func undeclared() throws {
        let other = try db.collection("other", of: Book.self)
        let error = #expect(throws: TansuError.self) { try other.find { $0.author.name == "x" } }
        #expect(error?.code == .invalidQuery)
    }
}

@Suite("Models")
struct ModelTests {
    @Test("What does not fit together is a typed error")
    func badModels() {
        struct Other: Codable, Sendable, Identifiable { var id: Int }
        func code(_ make: () throws -> Model) -> TansuError.Code? {
            switch Result(catching: make) {
            case .success: nil
            case .failure(let error): (error as? TansuError)?.code
            }
        }
        #expect(
            code { try Model { Entity("books", of: Book.self).reference(\.author, to: "authors") } } == .invalidArgument
        )
        #expect(
            code {
                try Model {
                    Entity("authors", of: Other.self)
                    Entity("books", of: Book.self).reference(\.author, to: "authors")
                }
            } == .invalidArgument)
        #expect(
            code {
                try Model {
                    Entity("a", of: Tag.self)
                    Entity("b", of: Tag.self)
                }
            } == .invalidArgument)
        #expect(
            code {
                try Model {
                    Entity("a", of: Tag.self)
                    Entity("a", of: Country.self)
                }
            } == .invalidArgument)
    }

    @Test("One model at a time; the same one again does nothing")
    func twoModels() throws {
        let db = try Database(.memory)
        try db.use(libraryModel())
        try db.use(libraryModel())
        let error = #expect(throws: TansuError.self) { try db.use(libraryModel(version: 2)) }
        #expect(error?.code == .invalidState)
    }

    @Test("The model is recorded: an app with an older version is rejected")
    func versions() throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("model-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let new = try Database(path: folder.path)
        try new.use(libraryModel(version: 2))
        try new.close()
        let old = try Database(path: folder.path)
        let error = #expect(throws: TansuError.self) { try old.use(libraryModel(version: 1)) }
        #expect(error?.code == .version)
        try old.use(libraryModel(version: 3))
        try old.close()
        let reader = try Database(path: folder.path, options: .init(readOnly: true))
        try reader.use(libraryModel(version: 4))
        #expect(try reader.collection(of: Book.self).find().including(\.author).all().isEmpty)
        try reader.close()
    }

    @Test("Stored documents where references should be are found, and nothing is changed")
    func stored() throws {
        let db = try Database(.memory)
        try db.collection("books").save(["_id": 7, "title": "x", "author": ["name": "embedded"]])
        let error = #expect(throws: TansuError.self) { try db.use(libraryModel()) }
        #expect(error?.code == .invalidDocument)
        #expect(error?.context == "_id 7")
        #expect(try db.collectionNames() == ["books"])
    }

    @Test("References inside the elements of an array")
    func parts() throws {
        struct Line: Codable, Sendable, Hashable { var product: Reference<Tag>; var count: Int }
        struct Order: Codable, Sendable, Identifiable, Hashable { var id: Int; var lines: [Line] }
        let db = try Database(.memory)
        try db.use(
            Model {
                Entity("products", of: Tag.self)
                Entity("orders", of: Order.self).reference(\.lines, \.product, to: "products")
            })
        try db.save(graph: [
            Tag(id: 1, name: "pen"), Tag(id: 2, name: "ink"),
            Order(id: 1, lines: [Line(product: .init(id: 1), count: 2)]),
            Order(id: 2, lines: [Line(product: .init(id: 1), count: 1), Line(product: .init(id: 2), count: 5)]),
        ])
        let orders = try db.collection(of: Order.self)
        let found = try orders.find { $0.lines.contains { $0.product.name == "ink" && $0.count > 3 } }.all()
        #expect(found.map(\.id) == [2])
        #expect(throws: TansuError.self) {
            try db.save(graph: [Order(id: 3, lines: [Line(product: .init(id: 9), count: 1)])])
        }
    }
}
