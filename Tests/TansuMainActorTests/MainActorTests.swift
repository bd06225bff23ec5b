import Foundation
import Tansu
import Testing

nonisolated enum Kind: String, Codable, Sendable, CaseIterable { case fiction, essay }

nonisolated struct Price: Codable, Hashable, Sendable { var amount: Int; var currency: String }

nonisolated struct Article: Codable, Hashable, Sendable, Identifiable {
    enum State: Int, Codable, Sendable { case draft, published }
    struct Author: Codable, Hashable, Sendable { var name: String; var born: Int? }

    var id: UUID = UUID()
    var title: String
    var kind = Kind.essay
    var state = State.draft
    var authors: [Author] = []
    var tags: Set<String> = []
    var price: Price?
    var due: Date?

    /// Declared beside the type, as its key paths are the same everywhere.
    static let indexes: [Database.Index<Article>] = [
        Database.Index(on: \.title), Database.Index(on: \.kind, \.due, where: { $0.state == .published }),
    ]
}

/// A type of the library's protocols is no actor's without saying so.
struct Reading: Codable, Sendable, Identifiable, StoredFieldNaming {
    enum CodingKeys: String, CodingKey { case id, celsius = "t" }
    var id: Int
    var celsius: Double
    var kelvin: Double {
        get { celsius + 273.15 }
        set { celsius = newValue - 273.15 }
    }
    static var storedFieldNames: [PartialKeyPath<Reading>: String] { [\.celsius: "t"] }
}

struct Point: BSONWritable, BSONReadable, Codable, Sendable, Identifiable {
    var id: Int
    var x: Double
    init(id: Int, x: Double) { (self.id, self.x) = (id, x) }
    init(reading fields: inout BSONFieldReader) throws {
        id = try fields.read("_id")
        x = try fields.read("x")
    }
    func write(to fields: inout BSONFieldWriter) throws {
        fields.write("_id", id)
        fields.write("x", x)
    }
}

/// State of an app, of the main actor as everything that does not say otherwise.
final class Library {
    let database: Database
    let articles: Database.Collection<Article>
    private(set) var saved = 0
    private(set) var titles: [String] = []

    init() throws {
        database = try Database(.memory)
        articles = try database.collection("articles", of: Article.self, indexes: Article.indexes)
    }

    func save(_ article: Article) async throws {
        try await database.write { transaction in
            try transaction.collection("articles", of: Article.self).save(article)
            self.saved += 1
        }
    }

    func saveSlowly(_ article: Article) async throws {
        try await database.write { transaction in
            let articles = try transaction.collection("articles", of: Article.self)
            try await articles.save(article)
            try transaction.savepoint { _ = try articles.update(id: article.id) { $0.tags.insert("slow") } }
            saved += 1
        }
    }

    func load() async throws {
        titles = try await articles.find { $0.state == .published }.sorted(by: \.title).all().map(\.title)
    }
}

@Suite("A module that is isolated to the main actor")
@MainActor
struct MainActorTests {
    @Test("The state of the main actor is used in transactions, with and without await")
    func state() async throws {
        let library = try Library()
        let essay = Article(title: "On ice", state: .published)
        try await library.save(essay)
        try await library.saveSlowly(Article(title: "On rain", kind: .fiction, state: .published))
        try await library.load()
        #expect(library.saved == 2)
        #expect(library.titles == ["On ice", "On rain"])
        let count = try await library.database.read { try $0.collection("articles", of: Article.self).count() }
        #expect(count == library.saved)
    }

    @Test("Queries, updates and aggregates by key path, in every form")
    func queries() async throws {
        let library = try Library()
        let articles = library.articles
        let snow = Article(
            title: "Snow", kind: .fiction, authors: [.init(name: "Orhan", born: 1952)], tags: ["cold"],
            price: Price(amount: 9, currency: "EUR"), due: Date(timeIntervalSince1970: 0))
        try await articles.insert(snow)
        try await articles.insert([Article(title: "Tar", price: Price(amount: 3, currency: "EUR"))])
        #expect(try await articles.find { $0.kind == .fiction && $0.state != .published }.count() == 1)
        #expect(try await articles.find { $0.kind.in([.fiction, .essay]) }.count() == 2)
        #expect(try await articles.find { $0.authors.contains { $0.name == "Orhan" && $0.born < 1960 } }.count() == 1)
        #expect(try await articles.find { $0.tags.contains("cold") && $0.due != nil }.count() == 1)
        #expect(try await articles.find { $0.price.amount > 5 }.sorted(by: \.price?.amount).first()?.id == snow.id)
        #expect(try await articles.find().aggregate(.sum(\.price?.amount)) == 12)
        #expect(try await articles.find().distinct(\.title).sorted() == ["Snow", "Tar"])
        try await articles.update(where: { $0.title == "Tar" }) { $0.set(\.kind, .fiction) }
        try await articles.update(id: snow.id) { $0.state = .published }
        try await articles.update(id: snow.id) { $0.title += "!" }
        #expect(try await articles.get(snow.id)?.title == "Snow!")
        #expect(try await articles.get(ids: [snow.id]).map(\.state) == [.published])
        var seen: [String] = []
        for try await article in articles.find() { seen.append(article.title) }
        #expect(seen.count == 2)
        nonisolated struct Title: Codable, Sendable { var title: String }
        #expect(try await articles.find().sorted(by: \.title).projected(to: Title.self).first()?.title == "Snow!")
    }

    @Test("The same without await")
    func withoutAwait() throws {
        let articles = try Library().articles
        let snow = Article(title: "Snow", kind: .fiction, tags: ["cold"], price: Price(amount: 9, currency: "EUR"))
        try articles.insert([snow, Article(title: "Tar")])
        #expect(try articles.find { $0.kind == .fiction && $0.tags.contains("cold") }.count() == 1)
        #expect(try articles.find().sorted(by: \.price?.amount, .descending).first()?.id == snow.id)
        #expect(try articles.find().aggregate(.sum(\.price?.amount)) == 9)
        try articles.update(where: { $0.title == "Tar" }) { $0.set(\.state, .published) }
        try articles.update(id: snow.id) { $0.state = .published }
        var seen: [String] = []
        try articles.find { $0.state == .published }.forEach { seen.append($0.title) }
        #expect(Set(seen) == ["Snow", "Tar"])
        #expect(try articles.remove(id: snow.id))
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test("Predicates")
    func predicates() async throws {
        let articles = try Library().articles
        try await articles.insert([Article(title: "Snow", tags: ["cold"]), Article(title: "Tar")])
        #expect(try await articles.find(#Predicate { $0.title.contains("now") }).count() == 1)
        let title = "Tar"
        #expect(try await articles.find(#Predicate<Article> { $0.title == title && $0.due == nil }).count() == 1)
    }

    @Test("Types with protocols of the library need no word")
    func protocols() async throws {
        let db = try Database(.memory)
        let readings = try db.collection("readings", of: Reading.self)
        try await readings.save(Reading(id: 1, celsius: 20))
        let points = try db.collection("points", of: Point.self)
        try await points.save(Point(id: 1, x: 2))
        // Their conformances are found on any thread.
        let found = try await Task.detached {
            (try readings.find { $0.celsius > 10 }.count(), try points.get(1)?.x)
        }.value
        #expect(found == (1, 2))
    }

    @Test("What is nonisolated is used on any thread, with its nested types")
    func anyThread() async throws {
        let library = try Library()
        let articles = library.articles
        try await library.save(
            Article(title: "Snow", authors: [.init(name: "Orhan")], price: .init(amount: 1, currency: "")))
        let found = try await Task.detached {
            try articles.find {
                $0.kind == .essay && $0.price.amount == 1 && $0.authors.contains { $0.name == "Orhan" }
            }
            .all().map(\.title)
        }.value
        #expect(found == ["Snow"])
    }

    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    @Test("Observed values, change streams and computed ones")
    func observing() async throws {
        let library = try Library()
        let list = Database.ObservedValue(library.articles.find().sorted(by: "title").observe())
        let changes = library.articles.changes()
        try await library.save(Article(title: "Snow"))
        while list.value?.map(\.title) != ["Snow"] { await Task.yield() }
        for try await change in changes where change.after != nil {
            #expect(change.after?.title == "Snow")
            break
        }
        let counts = library.database.observe { try $0.collection("articles", of: Article.self).count() }
        for try await count in counts {
            #expect(count == 1)
            break
        }
        for try await update in library.articles.find().sorted(by: "title").observeChanges() {
            #expect(update.changes.count == 1)
            break
        }
        for try await sections in library.articles.find().observe(sectionedBy: \.kind) {
            #expect(sections.map(\.value) == [.essay])
            break
        }
        let letters = library.articles.find().observeChanges(sectionedBy: { $0.title.prefix(1) }, sorted: .descending)
        for try await update in letters {
            #expect(update.sections.map(\.id) == ["S"])
            break
        }
    }

    @Test("Migrations and schemas")
    func migrations() async throws {
        let library = try Library()
        var migrations = Database.Migrations()
        migrations.add("first") { step in
            try step.collection("articles", of: Article.self).insert(Article(title: "Snow"))
        }
        migrations.add("second") { step in
            try step.rewrite("articles", of: Article.self) { article in
                var article = article
                article.title = "Rain"
                return article
            }
        }
        try await library.database.migrate(migrations) { _ in }
        try library.database.setSchema(["type": "object", "required": ["title"]], for: "articles")
        #expect(try await library.articles.find().first()?.title == "Rain")
    }
}
