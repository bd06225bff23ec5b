import Tansu
import Testing

@Suite("Highlights and suggestions")
struct TextHighlightTests {
    private func found(_ text: String, _ search: TextSearch, path: String? = nil) throws -> [String] {
        try Database.highlights(of: text, for: search, path: path).ranges.map { String(text[$0]) }
    }

    @Test("the places of words, phrases and beginnings")
    func places() throws {
        let text = "Café! A dark roast, and a darker one; ROAST"
        #expect(try found(text, "dark \"darker one\" cafe") == ["Café", "dark", "darker one"])
        #expect(try found(text, .prefix("dar")) == ["dark", "darker"])
        #expect(try found(text, "roast -dark") == ["roast", "ROAST"])
        #expect(try found(text, .fuzzy("rost")) == ["roast", "ROAST"])
        #expect(try found(text, .near(["dark", "darker"], within: 5)) == ["dark", "darker"])
        #expect(try found(text, "nothing").isEmpty)
        #expect(try found("", "x").isEmpty)
        #expect(try found("\0 a\0b", "b") == ["b"])
    }

    @Test("parts of a search for other paths are left out")
    func paths() throws {
        let search: TextSearch = .word("dark").in("title") || .word("roast")
        #expect(try found("dark roast", search, path: "title") == ["dark", "roast"])
        #expect(try found("dark roast", search, path: "body") == ["roast"])
        #expect(try found("dark roast", search) == ["dark", "roast"])
    }

    @Test("ranges are those of a text in UTF-16 too")
    func foreignText() throws {
        let text = String(decoding: Array("Łódź 東京都 🎉".utf16), as: UTF16.self)
        #expect(try found(text, "lodz 東京 🎉") == ["Łódź", "東京", "🎉"])
    }

    @Test("snippets have most of the search, and are divided into parts")
    func snippets() throws {
        let text = "one two three. four five dark six roast seven. eight nine dark ten"
        let found = try Database.highlights(of: text, for: "dark roast", snippets: 1, snippetWords: 5)
        let snippet = try #require(found.snippets.first)
        #expect(found.snippets.count == 1 && found.ranges.count == 3)
        let parts = snippet.parts(of: text)
        #expect(parts.map(\.text).joined() == String(text[snippet.range]))
        #expect(parts.filter(\.isFound).map { String($0.text) } == ["dark", "roast"])
        let whole = try Database.highlights(of: "dark", for: "dark", snippets: 3).snippets.map {
            $0.parts(of: "dark").count
        }
        #expect(whole == [1])
    }

    @Test(
        "stems are highlighted by the language of the text",
        .enabled(if: Database.engineLibraries.contains("libstemmer")))
    func stems() throws {
        let text = "He runs"
        let found = try Database.highlights(of: text, for: "running", language: "en")
        #expect(found.ranges.map { text[$0] } == ["runs"])
        let own = try Database.highlights(of: text, for: TextSearch("running").language("en"))
        #expect(own.ranges.map { text[$0] } == ["runs"])
        #expect(try Database.highlights(of: text, for: "running").ranges.isEmpty)
    }

    @Test("a wrong search or option is an error")
    func mistakes() throws {
        #expect(throws: TansuError.self) { try Database.highlights(of: "a", for: !"a") }
        #expect(throws: TansuError.self) { try Database.highlights(of: "a", for: "a", snippets: 101) }
        #expect(throws: TansuError.self) { try Database.highlights(of: "a", for: "a", language: "klingon") }
        #expect(throws: TansuError.self) { try Database.highlights(of: "a", for: .word("a").in(\Article.title.count)) }
    }

    @Test("the last word of a text is completed, most frequent words first")
    func completions() throws {
        let (db, articles) = try fourArticles()
        let found = try articles.completions(of: "dark co")
        #expect(found.map(\.text) == ["dark coffee"])
        #expect(found.map(\.word) == ["coffee"] && found.map(\.documents) == [3])
        #expect(try articles.completions(of: "RO").map(\.documents) == [2])
        #expect(try articles.completions(of: "dark ").isEmpty)
        #expect(try articles.completions(of: "").isEmpty)
        #expect(try articles.completions(of: "\0 te").map { $0.text.lowercased() } == ["\0 tea"])
        #expect(try articles.completions(of: "c", limit: 1).count == 1)
        try db.write { transaction in
            let articles = try transaction.collection("articles", of: Article.self)
            try articles.save(Article(id: 9, title: "Columbia", body: ""))
            #expect(try articles.completions(of: "colu").map(\.word) == ["Columbia"])
        }
        let limit = #expect(throws: TansuError.self) { try articles.completions(of: "c", limit: 0) }
        #expect(limit?.code == .invalidQuery)
        try db.collection("others").save(["a": "coffee"])
        let unindexed = #expect(throws: TansuError.self) { try db.collection("others").completions(of: "c") }
        #expect(unindexed?.code == .invalidQuery)
    }

    @Test("words that no document has are replaced by similar ones")
    func suggestions() throws {
        let (_, articles) = try fourArticles()
        let text = "strogn cofee, tea"
        let found = try articles.suggestions(for: text)
        #expect(found.text == "strong coffee, tea")
        #expect(found.words.map { text[$0.range] } == ["strogn", "cofee"])
        let coffee = try #require(found.words.last?.suggestions.first)
        #expect(coffee.text.lowercased() == "coffee" && coffee.documents == 3 && coffee.distance == 1)
        #expect(found.hasSuggestions)
        let known = try articles.suggestions(for: "dark roast")
        #expect(known.text == "dark roast" && !known.hasSuggestions)
        #expect(try !articles.suggestions(for: "zzzzzzzz").hasSuggestions)
    }

    @Test("asynchronous variants answer the same")
    func asynchronous() async throws {
        let (_, articles) = try fourArticles()
        #expect(try await articles.completions(of: "dark co").map(\.text) == ["dark coffee"])
        #expect(try await articles.suggestions(for: "strogn cofee").text == "strong coffee")
    }
}
