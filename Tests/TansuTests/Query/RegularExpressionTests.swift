import Tansu
import Testing

/// Regular expressions are those of PCRE2, or of Foundation where the engine is compiled with the package: where these differ is
/// listed here, and told in docs/query-language.md.
@Suite("Regular expressions: what they match")
struct RegularExpressionTests {
    private enum Answer {
        case match, none, invalid
    }

    private typealias Case = (pattern: String, options: String, text: String, answer: Answer)

    private static let both: [Case] = [
        ("", "", "ab", .match),
        ("^a", "", "ab", .match),
        ("b$", "", "ab", .match),
        ("b$", "", "ab\u{A}", .match),
        ("b$", "", "ab\u{D}\u{A}", .none),
        ("b\\z", "", "ab\u{A}", .none),
        ("b\\Z", "", "ab\u{A}", .match),
        ("a.c", "", "a\u{A}c", .none),
        ("a.c", "", "a\u{D}c", .match),
        ("a.c", "", "a\u{2028}c", .match),
        ("a.c", "", "a\u{85}c", .match),
        ("\\s", "", "\u{B}", .match),
        ("[[:alpha:]]", "", "a", .match),
        ("\\p{L}", "", "\u{E9}", .match),
        ("\\p{Lu}", "", "\u{C9}", .match),
        ("\\p{Greek}", "", "\u{3B1}", .match),
        ("\\X", "", "e\u{301}", .match),
        ("\\R", "", "\u{D}\u{A}", .match),
        ("\\h", "", "\u{9}", .match),
        ("\\h", "", "a", .none),
        ("\\v", "", "\u{A}", .match),
        ("(?<n>a)\\k<n>", "", "aa", .match),
        ("(a)\\1", "", "aa", .match),
        ("(?i)A", "", "a", .match),
        ("(?-i)a", "", "A", .none),
        ("a++b", "", "aab", .match),
        ("[]a]", "", "]", .match),
        ("[a-z&&[^b]]", "", "b", .none),
        ("[a-z&&[^b]]", "", "&", .none),
        ("[[a-z]]", "", "a]", .match),
        ("\\Qa.b\\E", "", "a.b", .match),
        ("(?#comment)a", "", "a", .match),
        ("(?=a)a", "", "a", .match),
        ("(?<=a)b", "", "ab", .match),
        ("(?<=a+)b", "", "aab", .invalid),
        ("(?<!a)b", "", "cb", .match),
        ("(?>a+)b", "", "aab", .match),
        ("(?R)?a", "", "a", .invalid),
        ("\\x{41}", "", "A", .match),
        ("\\x41", "", "A", .match),
        ("\\e", "", "\u{1B}", .match),
        ("\\cA", "", "\u{1}", .match),
        ("\\07", "", "\u{7}", .match),
        ("(?(1)a|b)", "", "b", .invalid),
        ("\\G", "", "a", .match),
        ("^", "", "", .match),
        ("$", "", "", .match),
        ("\u{DF}", "", "SS", .none),
        ("a|", "", "b", .match),
        ("(", "", "(", .invalid),
        ("a**", "", "a", .invalid),
        ("[b-a]", "", "a", .invalid),
        ("\\", "", "a", .invalid),
        ("\\g1(a)", "", "aa", .none),
        ("\u{1F600}", "", "\u{1F600}", .match),
        (".", "", "\u{1F600}", .match),
        ("^.$", "", "\u{1F600}", .match),
        ("^..$", "", "e\u{301}", .match),
        ("\u{C9}", "i", "\u{E9}", .match),
        ("k", "i", "\u{212A}", .match),
        ("\u{17F}", "i", "s", .match),
        ("\u{3C3}", "i", "\u{3C2}", .match),
        ("\u{130}", "i", "i", .none),
        ("^b", "m", "a\u{A}b", .match),
        ("a$", "m", "a\u{A}b", .match),
        ("a$", "m", "a\u{D}b", .none),
        ("a.c", "s", "a\u{A}c", .match),
        ("a b # c", "x", "ab", .match),
        ("a\\ b", "x", "a b", .match),
        ("[\u{E9}]", "i", "\u{C9}", .match),
    ]

    private static let different: [(pattern: String, options: String, text: String, pcre2: Answer, icu: Answer)] = [
        ("\\d", "", "\u{663}", .none, .match),
        ("\\w", "", "\u{E9}", .none, .match),
        ("\\s", "", "\u{A0}", .none, .match),
        ("\\b", "", "\u{E9}", .none, .match),
        ("^\\w+$", "", "stra\u{DF}e", .none, .match),
        ("[[:alpha:]]", "", "\u{E9}", .none, .match),
        ("\\N", "", "a", .match, .invalid),
        ("(?P<n>a)(?P=n)", "", "aa", .match, .invalid),
        ("a{,2}b", "", "aab", .none, .invalid),
        ("a{2", "", "a{2", .match, .invalid),
        ("a{,2}", "", "a{,2}", .match, .invalid),
        ("[[a-z]]", "", "a", .none, .match),
        ("(?|(a)|(b))", "", "b", .match, .invalid),
        ("(?1)(a)", "", "aa", .match, .invalid),
        ("\\u0041", "", "A", .invalid, .match),
        ("\\K", "", "a", .match, .none),
        ("a\\Kb", "", "ab", .match, .none),
        ("(*UTF8)a", "", "a", .match, .invalid),
        ("\\y", "", "y", .invalid, .match),
        ("(a)\\g{1}", "", "aa", .match, .none),
        ("\\N{LATIN SMALL LETTER A}", "", "a", .invalid, .match),
        ("SS", "i", "\u{DF}", .none, .match),
        ("\u{DF}", "i", "SS", .none, .match),
        ("[a b]", "x", " ", .match, .none),
    ]

    @Test("Each pattern of the list matches, does not match or is refused as the list says")
    func matches() throws {
        let database = try Database(.memory)
        let texts = try database.collection("texts")
        #if EngineFromSource
        let cases = Self.both + Self.different.map { ($0.pattern, $0.options, $0.text, $0.icu) }
        #else
        let cases = Self.both + Self.different.map { ($0.pattern, $0.options, $0.text, $0.pcre2) }
        #endif
        for (pattern, options, text, expected) in cases {
            try texts.save(["_id": 1, "text": .string(text)])
            let query: BSONDocument = ["text": ["$regex": .string(pattern), "$options": .string(options)]]
            let answer: Answer
            do {
                answer = try texts.find(query).count() == 1 ? .match : .none
            } catch let error as TansuError where error.code == .invalidQuery {
                answer = .invalid
            }
            #expect(answer == expected, "/\(pattern)/\(options) and \(text.debugDescription)")
        }
    }

    @Test("A match that takes too many steps ends with an error")
    func steps() throws {
        let database = try Database(.memory)
        let texts = try database.collection("texts")
        try texts.save(["text": .string(String(repeating: "a", count: 40))])
        #expect {
            _ = try texts.find(["text": ["$regex": "^(a+)+b|(a|a)*c$"]]).count()
        } throws: { ($0 as? TansuError)?.code == .invalidQuery }
    }
}
