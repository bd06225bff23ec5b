import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

/// An article that tests search for.
struct Article: Codable, Sendable, Identifiable, Equatable {
    enum CodingKeys: String, CodingKey { case id, title = "t", body, tags, year, language }
    var id: Int
    var title: String
    var body: String
    var tags: [String] = []
    var year = 2000
    var language: String?
}

/// Four articles with an index of the words of their titles, bodies and tags.
func fourArticles() throws -> (Database, Database.Collection<Article>) {
    let db = try Database(.memory)
    let articles = try db.collection("articles", of: Article.self)
    try articles.insert([
        Article(
            id: 1, title: "Dark roast", body: "A dark roast is strong coffee.", tags: ["coffee", "dark"], year: 1999),
        Article(id: 2, title: "Tea", body: "Tea is no coffee, and not as strong.", tags: ["green tea"], year: 2010),
        Article(id: 3, title: "Coffee", body: "Coffee, coffee, coffee", year: 2020),
        Article(id: 4, title: "Café crème", body: "With milk, and a light roast", tags: ["milk"], year: 2021),
    ])
    try articles.ensureTextIndex("words", on: \.title, \.body, \.tags, weights: [\.title: 3])
    return (db, articles)
}

extension Database.Query where Element: Identifiable, Element.ID: Sendable {
    /// The ids of what it finds, in its order.
    func ids() throws -> [Element.ID] { try all().map(\.id) }
}

@Suite("Searches for words")
struct TextSearchTests {
    @Test("a search finds what fits best first, with scores that fall")
    func ranked() throws {
        let (_, articles) = try fourArticles()
        let results = try articles.search("coffee").ranked().all()
        #expect(results.map(\.id).first == 3)
        #expect(Set(results.map(\.id)) == [1, 2, 3])
        #expect(results.allSatisfy { $0.score > 0 })
        #expect(zip(results, results.dropFirst()).allSatisfy { $0.score >= $1.score })
        #expect(results.map(\.value) == (try articles.search("coffee").all()))
        #expect(results[0].title == "Coffee")
        #expect(try articles.search("coffee").limit(1).ranked().first() == results[0])
        #expect(try articles.search("coffee").skip(1).ranked().all() == Array(results.dropFirst()))
        #expect(try articles.search("coffee").ranked().count() == 3)
        #expect(try articles.search("nothing").ranked().first() == nil)
    }

    @Test("the search for a text has phrases, exclusions and prefixes")
    func typed() throws {
        let (_, articles) = try fourArticles()
        #expect(try Set(articles.search("roast tea").ids()) == [1, 2, 4])
        #expect(try articles.search("\"strong coffee\"").ids() == [1])
        #expect(try Set(articles.search("coffee -tea").ids()) == [1, 3])
        #expect(try articles.search("mil*").ids() == [4])
        let (word, excluded) = ("roast", "dark")
        #expect(try articles.search("\(word) -\(excluded)").ids() == [4])
        #expect(try articles.search(TextSearch("ROAST -dark")).ids() == [4])
    }

    @Test("each part of a search finds what it says")
    func parts() throws {
        let (_, articles) = try fourArticles()
        func found(_ search: TextSearch) throws -> [Int] { try articles.search(search).ids().sorted() }
        #expect(try found(.word("roast")) == [1, 4])
        #expect(try found(.phrase("light roast")) == [4])
        #expect(try found(.phrase("roast light")) == [])
        #expect(try found(.prefix("stro")) == [1, 2])
        #expect(try found(.fuzzy("cofee")) == [1, 2, 3])
        #expect(try found(.fuzzy("cofe", distance: 2)) == [1, 2, 3, 4])
        #expect(try found(.fuzzy("coffea", same: 2)) == [1, 2, 3])
        #expect(try found(.fuzzy("xoffee", same: 1)) == [])
        #expect(try found(.near(["tea", "strong"], within: 8)) == [2])
        #expect(try found(.near(["strong", "tea"], within: 8, ordered: true)) == [])
        #expect(try found(.near(["strong", "dark"], within: 3, ordered: false)) == [1])
        #expect(try found(.all(["strong", .word("tea")])) == [2])
        #expect(try found(.any([.word("tea"), .word("milk")])) == [2, 4])
    }

    @Test("searches are joined by operators")
    func operators() throws {
        let (_, articles) = try fourArticles()
        func found(_ search: TextSearch) throws -> [Int] { try articles.search(search).ids().sorted() }
        #expect(try found(.word("coffee") && .word("strong")) == [1, 2])
        #expect(try found(.word("tea") || .word("milk") || .word("dark")) == [1, 2, 4])
        #expect(try found(.word("coffee") && !.word("tea")) == [1, 3])
        #expect(try found(!.word("tea") && !(.word("dark") || "crème") && "coffee") == [3])
        #expect(try found("strong" && (.word("tea") || .phrase("dark roast"))) == [1, 2])
        #expect(try found("dark coffee" && .word("strong")) == [1])
        let alone = #expect(throws: TansuError.self) { try found(!.word("tea")) }
        #expect(alone?.code == .invalidQuery)
        let minus = #expect(throws: TansuError.self) { try found("coffee -tea" && .word("strong")) }
        #expect(minus?.code == .invalidQuery && minus?.message.contains("minus") == true)
    }

    @Test("a search may be in some paths, and its parts count differently")
    func pathsAndBoosts() throws {
        let (_, articles) = try fourArticles()
        func found(_ search: TextSearch) throws -> [Int] { try articles.search(search).ids().sorted() }
        #expect(try found(.word("roast").in(\Article.title)) == [1])
        #expect(try found(.word("coffee").in("t", "tags")) == [1, 3])
        #expect(try found(TextSearch("coffee milk").in(["tags"])) == [1, 4])
        #expect(try found(.word("roast").in(\Article.title) || .word("milk").in(\Article.tags)) == [1, 4])
        #expect(try found((.word("strong") && .word("tea").in("t")).in("body")) == [2])
        let unknown = #expect(throws: TansuError.self) { try found(.word("roast").in("year")) }
        #expect(unknown?.code == .invalidQuery)
        let computed = #expect(throws: TansuError.self) { try found(.word("roast").in(\Article.title.count)) }
        #expect(computed?.code == .invalidQuery)
        let plain = try articles.search(.word("milk")).ranked().first()?.score ?? 0
        let boosted = try articles.search(.word("milk").boosted(by: 2).boosted(by: 3)).ranked().first()?.score ?? 0
        #expect(plain > 0 && abs(boosted - 6 * plain) < 1e-9)
        #expect(try articles.search(.word("tea") || .word("roast").boosted(by: 1000)).ids().last == 2)
    }

    @Test("a whole search has a language, sensitivity and parameters of its score")
    func options() throws {
        let (_, articles) = try fourArticles()
        #expect(try articles.search(TextSearch("COFFEE").caseSensitive()).ids() == [])
        #expect(try articles.search(TextSearch("Coffee").caseSensitive()).ids() == [3])
        #expect(try articles.search(TextSearch("creme")).ids() == [4])
        #expect(try articles.search(TextSearch("creme").diacriticSensitive()).ids() == [])
        #expect(try articles.search((.word("Tea") && .word("coffee").caseSensitive())).ids() == [2])
        let scores = try [0.0, 1.2].map { k1 in
            try articles.search(TextSearch("coffee").scored(k1: k1, b: 0)).ranked().all().map {
                ($0.score * 1e6).rounded()
            }
        }
        // Without k1 it does not count how often a word is there.
        #expect(Set(scores[0]).count == 1 && Set(scores[1]).count > 1)
        let unknown = #expect(throws: TansuError.self) {
            try articles.search(TextSearch("coffee").language("klingon")).all()
        }
        #expect(unknown?.code == .invalidQuery || unknown?.code == .unsupported)
    }

    @Test("stems of a language", .enabled(if: Database.engineLibraries.contains("libstemmer")))
    func stems() throws {
        let db = try Database(.memory)
        let articles = try db.collection(
            "articles", of: Article.self,
            indexes: [.text(on: \.title, \.body, language: "en", languageField: \.language)])
        try articles.insert([
            Article(id: 1, title: "Roasting", body: "It roasts"),
            Article(id: 2, title: "Häuser", body: "Das Haus", language: "de"),
        ])
        #expect(try articles.search("roasted").ids() == [1])
        #expect(try articles.search(TextSearch("Hauses").language("german")).ids() == [2])
        #expect(try articles.search(.word("roasted").language("none")).ids() == [])
    }

    @Test("an operand of JSON is a search")
    func operand() throws {
        let (_, articles) = try fourArticles()
        #expect(try articles.search(TextSearch(operand: ["$search": "tea"])).ids() == [2])
        #expect(try articles.search(TextSearch(operand: ["phrase": "dark roast"]).in("body")).ids() == [1])
        let nested = TextSearch(operand: ["all": ["strong"]]) && .word("tea")
        #expect(try articles.search(nested).ids() == [2])
        #expect(throws: TansuError.self) { try articles.search(TextSearch(operand: [:])).all() }
    }

    @Test("without an index of words a search is an error that says so")
    func noIndex() throws {
        let db = try Database(.memory)
        let articles = try db.collection("articles", of: Article.self)
        try articles.insert(Article(id: 1, title: "a", body: "b"))
        let error = #expect(throws: TansuError.self) { try articles.search("a").all() }
        #expect(error?.code == .invalidQuery && error?.message.contains("index of words") == true)
    }
}

@Suite("Searches for words as conditions")
struct TextConditionTests {
    @Test("a search stands beside other conditions")
    func conditions() throws {
        let (_, articles) = try fourArticles()
        #expect(try articles.find { $0.year > 2000 && .search("coffee") }.sorted(by: \.year).ids() == [2, 3])
        #expect(try articles.search("coffee").and { $0.year < 2000 }.ids() == [1])
        #expect(try articles.search("coffee").and(["year": 2020]).ids() == [3])
        #expect(try articles.find(["$text": ["$search": "tea"]]).ids() == [2])
        #expect(try articles.find { _ in .search("coffee") }.count() == 3)
        #expect(try articles.find { _ in .search("coffee") }.sortedByScore().ids() == articles.search("coffee").ids())
        #expect(try articles.find { _ in .search("roast") }.sorted(by: \.year, .descending).first()?.id == 4)
        let below = #expect(throws: TansuError.self) {
            try articles.find { $0.year > 2000 || .search("coffee") }.all()
        }
        #expect(below?.code == .invalidQuery)
        #expect(throws: TansuError.self) { try articles.find { _ in !.search("coffee") }.all() }
        #expect(throws: TansuError.self) { try articles.find().sortedByScore().all() }
        #expect(throws: TansuError.self) { try articles.find().ranked().all() }
    }

    @Test("a property is searched for words, and several searches are one")
    func properties() throws {
        let (_, articles) = try fourArticles()
        #expect(try articles.find { $0.title.matches(words: "roast") }.ids() == [1])
        #expect(try articles.find { $0.tags.matches(words: .phrase("green tea")) }.ids() == [2])
        #expect(
            try articles.find { $0.title.matches(words: "coffee tea") && $0.body.matches(words: "strong") }.ids() == [2]
        )
        let either = try articles.find { $0.title.matches(words: "tea") || $0.tags.matches(words: "milk") }
        #expect(try either.sorted(by: \.id).ids() == [2, 4])
        let three = try articles.find {
            $0.title.matches(words: .word("coffee").caseSensitive(false)) && $0.year > 2000
                && $0.body.matches(words: "coffee")
        }
        #expect(try three.ids() == [3])
        let text = try articles.find { .search("coffee") && $0.title.matches(words: "tea") }
        #expect(throws: TansuError.self) { try text.all() }
    }

    @Test("an update and a removal take a search")
    func writes() throws {
        let (_, articles) = try fourArticles()
        #expect(try articles.update(articles.find { _ in .search("roast") }) { $0.set(\.year, 1) }.modified == 2)
        #expect(try articles.find { $0.year == 1 }.sorted(by: \.id).ids() == [1, 4])
        #expect(try articles.remove(articles.find { _ in .search("tea") }) == 1)
        #expect(try articles.search("tea").count() == 0)
    }

    @Test("an explanation names the search and its order")
    func explained() throws {
        let (_, articles) = try fourArticles()
        let plan = try articles.search("coffee").limit(1).explain().plan
        #expect(plan.kind == .text && plan.order == .score)
        #expect("\(plan)" == "search of words, best first")
        #expect(try articles.find { _ in .search("coffee") }.explain().plan.order == .none)
    }

    @Test("a pipeline begins with a search")
    func pipeline() throws {
        let (_, articles) = try fourArticles()
        let rows = try articles.aggregate([
            .match { _ in .search("coffee") }, ["$sort": ["score": ["$meta": "textScore"]]], .limit(1),
            ["$project": ["t": 1]],
        ]).all()
        #expect(rows == [["_id": 3, "t": "Coffee"]])
    }

    @Test("a limit of nothing finds nothing, and scores have no pages")
    func limits() throws {
        let (_, articles) = try fourArticles()
        #expect(try articles.search("coffee").limit(0).ranked().all() == [])
        #expect(try articles.search("coffee").limit(0).count() == 0)
        let error = #expect(throws: TansuError.self) { try articles.search("coffee").page(size: 2) }
        #expect(error?.code == .invalidQuery && error?.message.contains("scores") == true)
        let page = try articles.find { _ in .search("coffee") }.page(size: 2)
        #expect(page.elements.map(\.id) == [1, 2])
        #expect(try articles.find { _ in .search("coffee") }.page(after: page.next, size: 2).elements.map(\.id) == [3])
    }

    @Test("results are of any type, and have only the fields that are asked for")
    func types() throws {
        let (db, articles) = try fourArticles()
        let documents = try db.collection("articles").search("tea").ranked().all()
        #expect(documents.map(\.value) == [try #require(try db.collection("articles").get(2))])
        let partial = try db.collection("articles").search("tea").fields(["t": 1, "_id": 0]).ranked().all()
        #expect(partial.map(\.value) == [["t": "Tea"]] && partial[0].score > 0)
        struct Title: Codable, Sendable, Equatable { var t: String }
        #expect(try articles.search("tea").projected(to: Title.self).ranked().first()?.value == Title(t: "Tea"))
        let dictionaries = try db.collection("articles", of: [String: BSONValue].self).search("tea").ranked().all()
        #expect(dictionaries.first?.value.keys.sorted() == ["_id", "body", "t", "tags", "year"])
    }

    @Test("a result that cannot be decoded is skipped if the query says so")
    func policy() throws {
        let (db, articles) = try fourArticles()
        try db.collection("articles").save(["_id": 5, "t": "Tea", "body": 7])
        #expect(throws: DecodingError.self) { try articles.search("tea").ranked().all() }
        #expect(try articles.search("tea").decoding(.skipping()).ranked().all().map(\.id) == [2])
        #expect(try articles.search("tea").ranked().decoding(.skipping()).all().map(\.id) == [2])
    }

    @Test("a search with other forms of values converts only what is compared")
    func strategies() throws {
        let db = try Database(.memory)
        struct Event: Codable, Sendable, Identifiable {
            var id: Int
            var text: String
            var at: Date
        }
        let events = try db.collection("events", of: Event.self, coding: BSONCodingStrategies(date: .iso8601))
        let date = Date(timeIntervalSince1970: 0)
        try events.insert([Event(id: 1, text: "one word", at: date), Event(id: 2, text: "one word", at: date + 1)])
        try events.ensureTextIndex(on: \.text)
        #expect(try events.find { .search("word") && $0.at == date }.ids() == [1])
        #expect(try events.find(["$text": ["word": "one", "boost": 1.5], "at": .date(date)]).ids() == [1])
    }

    @Test("asynchronous variants find the same")
    func asynchronous() async throws {
        let (db, articles) = try fourArticles()
        func synchronously() throws -> [Database.Ranked<Article>] { try articles.search("coffee").ranked().all() }
        let expected = try synchronously()
        #expect(expected.count == 3)
        #expect(try await articles.search("coffee").ranked().all() == expected)
        #expect(try await articles.search("coffee").ranked().first() == expected.first)
        var seen: [Database.Ranked<Article>] = []
        for try await result in articles.search("coffee").ranked() { seen.append(result) }
        #expect(seen == expected)
        let inside = try await db.read { snapshot in
            try snapshot.collection("articles", of: Article.self).search("coffee").ranked().all()
        }
        #expect(inside == expected)
    }

    @Test("an observed search delivers results as documents change")
    func observed() async throws {
        let (_, articles) = try fourArticles()
        var results = articles.search("tea").ranked().observe().makeAsyncIterator()
        #expect(try await results.next()?.map(\.id) == [2])
        try await articles.save(Article(id: 5, title: "Tea, tea", body: "tea"))
        let second = try #require(try await results.next())
        #expect(second.map(\.id) == [5, 2])
        try await articles.remove(id: 2)
        #expect(try await results.next()?.map(\.id) == [5])
        var changes = try articles.find { _ in .search("tea") }.observeChanges().makeAsyncIterator()
        #expect(try await changes.next()?.changes == [.inserted(at: 0)])
        try await articles.save(Article(id: 5, title: "Coffee", body: "coffee"))
        #expect(try await changes.next()?.changes == [.removed(at: 0)])
    }
}
