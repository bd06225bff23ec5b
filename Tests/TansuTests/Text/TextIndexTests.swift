import Tansu
import TansuBSON
import Testing

@Suite("Indexes of words")
struct TextIndexTests {
    @Test("an index of words is listed with its paths and options")
    func listed() throws {
        let (_, articles) = try fourArticles()
        let index = try #require(try articles.indexes().first)
        #expect(index.name == "words")
        #expect(index.keys.map(\.path) == ["t", "body", "tags"])
        #expect(index.text == Database.TextIndexOptions(weights: ["t": 3]))
        try articles.ensureIndex(on: \.year)
        #expect(try articles.indexes().first { $0.name == "year_1" }?.text == nil)
        try articles.ensureTextIndex("words", on: \.title, \.body, \.tags, weights: [\.title: 3])
        #expect(try articles.indexes().count == 2)
        let other = #expect(throws: TansuError.self) { try articles.ensureTextIndex("more", on: \.title) }
        #expect(other?.code == .invalidIndex)
        try articles.dropIndex("words")
        try articles.ensureTextIndex(on: \.title)
        #expect(try articles.indexes().map(\.name).contains("t_text"))
    }

    @Test("it has all options that it is given")
    func options() throws {
        let db = try Database(.memory)
        let documents = try db.collection("documents")
        let options = Database.TextIndexOptions(
            weights: ["a.b": 7, "c": 2], language: "none", languageField: "lang", keepsPositions: false)
        try documents.ensureTextIndex(
            "w", onPaths: ["a.b", "c"], options: options, partialFilter: ["kind": "open"])
        let index = try #require(try documents.indexes().first)
        #expect(index.text == options && index.partialFilter == ["kind": "open"])
        try documents.insert([
            ["_id": 1, "a": [["b": "one two"], ["b": "three"]], "kind": "open"], ["_id": 2, "c": "one two"],
        ])
        #expect(try documents.search(.phrase("one two")).all().map { $0["_id"] } == [1])
    }

    @Test("it may have all texts of documents")
    func everything() throws {
        let db = try Database(.memory)
        let documents = try db.collection("documents", indexes: [.text("all", onPaths: [])])
        try documents.insert([["_id": 1, "a": ["b": ["deep words"]]], ["_id": 2, "c": 3]])
        #expect(try documents.search("deep").all().map { $0["_id"] } == [1])
        #expect(try documents.indexes().first?.keys.map(\.path) == ["**"])
    }

    @Test("only documents that match its condition have words in it")
    func partial() throws {
        let db = try Database(.memory)
        let articles = try db.collection(
            "articles", of: Article.self, indexes: [.text(on: \.title) { $0.year > 2000 }])
        try articles.insert([
            Article(id: 1, title: "one", body: "", year: 1999), Article(id: 2, title: "one", body: "", year: 2001),
        ])
        #expect(try articles.search("one").ids() == [2])
    }

    @Test("a property that is not stored is an error when the index is made")
    func mistakes() throws {
        let db = try Database(.memory)
        let articles = try db.collection("articles", of: Article.self)
        let computed = #expect(throws: TansuError.self) { try articles.ensureTextIndex(on: \.title.count) }
        #expect(computed?.code == .invalidQuery)
        let weight = #expect(throws: TansuError.self) {
            try articles.ensureTextIndex(on: \.title, weights: [\.title.count: 2])
        }
        #expect(weight?.code == .invalidQuery)
        let other = #expect(throws: TansuError.self) { try articles.ensureTextIndex(on: \.title, weights: [\.body: 2]) }
        #expect(other?.code == .invalidIndex)
        let named = #expect(throws: TansuError.self) { try articles.ensureTextIndex(onPaths: ["title"]) }
        #expect(named?.code == .invalidIndex && named?.message.contains("\"t\"") == true)
        #expect(try articles.indexes().isEmpty)
    }

    @Test("asynchronous variants make the same index, and a cancelled build none")
    func asynchronous() async throws {
        let db = try Database(.memory)
        let articles = try db.collection("articles", of: Article.self)
        try await articles.ensureTextIndex("w", on: \.title, \.body)
        #expect(try await articles.indexes().first?.keys.map(\.path) == ["t", "body"])
        let documents = try db.collection("documents")
        try await documents.insert(["a": "word"])
        try await documents.ensureTextIndex(onPaths: ["a"])
        #expect(try await documents.search("word").count() == 1)
        struct Stop: Error {}
        let others = try db.collection("others")
        try await others.insert(["a": "word"])
        await #expect(throws: Stop.self) {
            try await others.ensureTextIndex(onPaths: ["a"]) { _ in throw Stop() }
        }
        #expect(try await others.indexes().isEmpty)
    }
}
