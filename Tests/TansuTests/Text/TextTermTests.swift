import Tansu
import Testing

@Suite("Terms of texts")
struct TextTermTests {
    private static let hasStems = Database.engineLibraries.contains("libstemmer")

    /// The terms with their positions and the text that they stand for: "0:cafe=Café".
    private func shown(_ text: String, language: String = "none", purpose: TextTerm.Purpose = .index) throws -> [String]
    {
        try Database.terms(of: text, language: language, purpose: purpose)
            .map { "\($0.position):\($0.term)=\(text[$0.range])" }
    }

    @Test("terms are folded words with their places")
    func words() throws {
        #expect(try shown("Café, foo_bar!") == ["0:cafe=Café", "1:foo_bar=foo_bar", "1:foo=foo", "2:bar=bar"])
        #expect(try shown("cafe\u{301} 👨‍👩‍👧 🇩🇪").map { String($0.prefix(6)) }.first == "0:cafe")
        #expect(try shown("東京都") == ["0:東=東", "0:東京=東京", "1:京=京", "1:京都=京都", "2:都=都"])
        #expect(try shown("東京都", purpose: .search) == ["0:東京=東京", "1:京都=京都"])
        #expect(try shown("").isEmpty)
        #expect(try shown("\0 a\0b") == ["0:a=a", "1:b=b"])
    }

    @Test("ranges are those of a text in UTF-16 too")
    func foreignText() throws {
        // A text whose storage is not UTF-8 until it is asked for.
        let text = String(decoding: Array("Łódź 東京".utf16), as: UTF16.self)
        #expect(try shown(text) == ["0:lodz=Łódź", "1:東=東", "1:東京=東京", "2:京=京"])
        let part = "xx Ärger yy".dropFirst(3).dropLast(3)
        #expect(try shown(String(part)) == ["0:arger=Ärger"])
    }

    @Test("stems of a language", .enabled(if: hasStems))
    func stems() throws {
        #expect(try shown("The foxes’ running", language: "en") == ["0:the=The", "1:fox=foxes", "2:run=running"])
        #expect(try shown("Häuser", language: "german") == ["0:haus=Häuser"])
    }

    @Test("an unknown language is an error that lists those that there are", .enabled(if: hasStems))
    func unknownLanguage() throws {
        let error = try #require(throws: TansuError.self) { try Database.terms(of: "x", language: "klingon") }
        #expect(error.code == .invalidQuery)
        #expect(error.message.contains("english"))
        #expect(throws: TansuError.self) { try Database.terms(of: "x", language: "") }
        #expect(throws: TansuError.self) { try Database.terms(of: "x", language: "en\0") }
    }

    @Test("each range has what its term was made of", arguments: ["foo_bar v1.2 l’amour", "한국어 ไทย カメラ", "a b\u{AD}c"])
    func ranges(_ text: String) throws {
        let terms = try Database.terms(of: text)
        #expect(!terms.isEmpty)
        for term in terms {
            let again = try Database.terms(of: String(text[term.range])).map(\.term)
            #expect(again.contains(term.term))
        }
    }
}
