import Foundation
import TansuObjects
import Testing

// ComingFromObjectStores.md of TansuObjects.
extension GuideExampleTests {
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test func comingFromObjectStores() async throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        let db = try Database(.memory)
        struct Author: Codable, Sendable, Identifiable { var id = ObjectID(); var name: String }
        struct Tag: Codable, Sendable, Identifiable { var id: String; var title: String }
        struct Book: Codable, Sendable, Identifiable {
            var id = ObjectID()
            var title: String
            var year: Int
            var author: Reference<Author>?
            var tags: [Reference<Tag>] = []
        }
        let model = try Model(version: 1) {
            Entity("authors", of: Author.self)
            Entity("tags", of: Tag.self)
            Entity("books", of: Book.self, indexes: [Database.Index(on: \.title)])
                .reference(\.author, to: "authors", onDelete: .cascade)
                .reference(\.tags, to: "tags", onDelete: .nullify)
        }
        try await db.use(model)
        let (authors, books) = (try db.collection(of: Author.self), try db.collection(of: Book.self))

        let ursula = Author(name: "Ursula K. Le Guin")
        let anarchism = Tag(id: "anarchism", title: "Anarchism")
        let dispossessed = Book(
            title: "The Dispossessed", year: 1974, author: Reference(to: ursula), tags: [Reference(to: anarchism)])
        let earthsea = Book(title: "A Wizard of Earthsea", year: 1968, author: Reference(to: ursula))
        try await db.save(graph: [ursula, anarchism, dispossessed, earthsea])

        print(try await dispossessed.author?.resolve(in: db)?.name ?? "nobody")  // Ursula K. Le Guin

        let works = try await books.find { $0.author == Reference(to: ursula) }.sorted(by: \.year).all()
        print(works.map(\.title))  // ["A Wizard of Earthsea", "The Dispossessed"]
        let shelves = authors.find().including(all: \Book.author) { try $0.sorted(by: \.year) }
        for (author, works) in try await shelves.all() {
            print(author.name, works.map(\.year))  // Ursula K. Le Guin [1968, 1974]
        }

        let utopia = Tag(id: "utopia", title: "Utopias")
        try await db.save(graph: [utopia])
        try await books.update(id: dispossessed.id) { $0.tags.append(Reference(to: utopia)) }
        print(try await books.find { $0.tags.contains { $0.title == "Utopias" } }.count())  // 1

        let late = try books.find { $0.author.name.hasPrefix("Ursula") && $0.year > 1970 }.sorted(by: \.title).limit(10)
        print(try await late.all().map(\.title))  // ["The Dispossessed"]
        let early = try authors.find { $0.inverse(\Book.author).contains { $0.year < 1970 } }
        print(try await early.all().map(\.name))  // ["Ursula K. Le Guin"]
        print(try await books.find(#Predicate { $0.year < 1970 }).count())  // 1

        for (book, author, tags) in try await late.including(\.author).including(all: \.tags).all() {
            print(book.year, author?.name ?? "", tags.map(\.id))  // 1974 Ursula K. Le Guin ["anarchism", "utopia"]
        }
        for (author, count) in try await authors.find().annotated(with: .count(\Book.author)).all() {
            print(author.name, count)  // Ursula K. Le Guin 2
        }

        let ged = Tag(id: "magic", title: "Magic")
        var changed = earthsea
        changed.tags = [Reference(to: ged)]
        print(try await db.save(graph: [changed, ged, ursula]))  // 2

        let lem = Author(name: "Stanisław Lem")
        try await db.save(graph: [lem, Book(title: "Fiasco", year: 1986, author: Reference(to: lem))])
        try await authors.remove(id: lem.id)
        print(try await books.find { $0.title == "Fiasco" }.count())  // 0
        try await db.collection(of: Tag.self).remove(id: utopia.id)
        print(try await books.get(dispossessed.id)?.tags.map(\.id) ?? [])  // ["anarchism"]
        print(try await db.danglingReferences().references.count)  // 0

        let context = EditingContext(db, conflicts: .mergeFields, autosave: .every(100))
        try await context.update(Book.self, id: dispossessed.id) { $0.year = 1975 }
        try await context.insert(Book(title: "The Lathe of Heaven", year: 1971, author: Reference(to: ursula)))
        print(await context.hasChanges, await context.updatedObjects.count)  // true 1
        print(try await context.fetch(books.find { $0.year > 1970 }).count)  // 2
        try await context.undo()
        try await context.save()
        print(try await books.find { $0.year > 1970 }.sorted(by: \.title).all().map(\.year))  // [1975]

        let events = db.objectChanges()
        try await books.insert(Book(title: "The Word for World Is Forest", year: 1972, author: Reference(to: ursula)))
        for try await event in events {
            print(event.inserted.count, event.updated.count, event.ids(\.inserted, in: "books").count)  // 1 0 1
            break
        }
        let hers = try books.find { $0.author.name.hasPrefix("Ursula") }.sorted(by: \.year)
        for try await list in hers.observe() {
            print(list.count)  // 3, 4
            if list.count == 4 { break }
            try await books.insert(Book(title: "Always Coming Home", year: 1985, author: Reference(to: ursula)))
        }

        try await books.ensureWildcardIndex()
        var search = Search(in: "books", where: .init(.any, .begins("alw"), ignoring: .case))
        search.order = [.init("title")]
        search.limit = 10
        print(try await search.objects(of: Book.self, in: db).map(\.title))  // ["Always Coming Home"]
        print(try await search.keys(in: db).count, try await search.aggregate(.max("year"), in: db))  // 1 1985
        print(try await books.find(["**": ["$begin": "Alw"]]).all().map(\.title))  // ["Always Coming Home"]
        print(try await books.find(["**": 1985]).count(), try await books.find(["**": "1985"]).count())  // 1 0

        let shelf = try db.bag("shelf")
        try await shelf.add([earthsea, dispossessed])
        try await shelf.add([ursula])
        print(try await shelf.objects(of: Book.self).map(\.title))  // ["A Wizard of Earthsea", "The Dispossessed"]
        print(try await shelf.find(Book.self).and { $0.year > 1970 }.count())  // 1
        try await books.remove(id: earthsea.id)
        print(try await shelf.count(), try await db.bagNames(containing: ursula))  // 2 ["shelf"]

        struct OldAuthor: Sendable { var key: String; var name: String }
        struct OldBook: Sendable { var key: String; var title: String; var year: Int; var authorKey: String? }
        let oldAuthors = [OldAuthor(key: "a1", name: "Stanisław Lem")]
        let oldBooks = [OldBook(key: "b1", title: "Solaris", year: 1961, authorKey: "a1")]

        var migrations = Database.Migrations()
        migrations.add("from the old store") { step in
            var ids: [String: ObjectID] = [:]
            for old in oldAuthors {
                let author = Author(name: old.name)
                ids[old.key] = author.id
                try step.collection("authors", of: Author.self).insert(author)
            }
            for old in oldBooks {
                let author = old.authorKey.flatMap { ids[$0] }.map { Reference<Author>(id: $0) }
                let book = Book(title: old.title, year: old.year, author: author)
                try step.collection("books", of: Book.self).insert(book)
            }
        }
        try await db.migrate(migrations)
        print(try await books.find { $0.author.name == "Stanisław Lem" }.all().map(\.title))  // ["Solaris"]

        #expect(try printed.lines == shown(by: "ComingFromObjectStores"))
    }
}
