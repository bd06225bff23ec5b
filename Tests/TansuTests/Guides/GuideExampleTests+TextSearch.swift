import Tansu
import Testing

// SearchingTexts.md.
extension GuideExampleTests {
    @Test func textSearch() throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }

        struct Article: Codable, Sendable, Identifiable {
            var id: Int
            var title: String
            var body: String
            var year: Int
        }

        let db = try Database(.memory)
        let articles = try db.collection(
            "articles", of: Article.self, indexes: [.text(on: \.title, \.body, weights: [\.title: 3])])
        try articles.insert([
            Article(id: 1, title: "Dark roast", body: "A dark roast is strong coffee.", year: 1999),
            Article(id: 2, title: "Tea", body: "Tea is no coffee, and not as strong.", year: 2010),
            Article(id: 3, title: "Coffee", body: "Coffee, coffee, coffee", year: 2020),
        ])

        print(try articles.search("dark coffee").limit(2).all().map(\.title))  // ["Dark roast", "Coffee"]
        for result in try articles.search("\"strong coffee\" -tea").ranked().all() {
            print(result.title, result.score > 0)  // Dark roast true
        }

        print(try articles.search(.prefix("stro") && !.word("tea")).all().map(\.id))  // [1]
        print(try articles.search(.fuzzy("cofee").in(\Article.title)).all().map(\.id))  // [3]
        print(try articles.search(.near(["dark", "coffee"], within: 5)).all().map(\.id))  // [1]

        let old = try articles.find { $0.year < 2015 && .search("coffee") }.sorted(by: \.year, .descending)
        print(try old.all().map(\.id))  // [2, 1]
        print(try articles.find { $0.title.matches(words: "coffee tea") }.sortedByScore().count())  // 2

        let text = "A dark roast is strong coffee."
        let found = try Database.highlights(of: text, for: "coffee \"dark roast\"", snippets: 1)
        print(found.ranges.map { text[$0] })  // ["dark roast", "coffee"]
        let parts = found.snippets[0].parts(of: text).map { $0.isFound ? "<b>\($0.text)</b>" : "\($0.text)" }
        print(parts.joined())  // A <b>dark roast</b> is strong <b>coffee</b>

        print(try articles.completions(of: "dark stro").map(\.text))  // ["dark strong"]
        print(try articles.suggestions(for: "strogn coffee").text)  // strong coffee

        #expect(try printed.lines == shown(by: "SearchingTexts"))
    }
}
