import TansuBSON
import Testing

@testable import TansuBSON

/// Texts are equal if their bytes are: in Swift canonically equivalent ones are.
@Suite struct BytewiseTextTests {
    private static let one = "caf\u{E9}"
    private static let two = "cafe\u{301}"

    @Test("Operators and prefixes compare bytes, of optional texts and arrays too")
    func operators() {
        let (a, b): (String?, String?) = (Self.one, Self.two)
        #expect(!(Self.one == Self.two) && Self.one != Self.two && Self.one == "caf\u{E9}")
        #expect(!(a == b) && a != b && a != nil && (nil as String?) == nil && a != nil as String?)
        #expect(!([Self.one] == [Self.two]) && [Self.one] != [Self.two] && ["a", Self.one] == ["a", Self.one])
        #expect(![Self.one].contains(Self.two) && ["x", Self.two].firstIndex(of: Self.two) == 1)
        #expect(!(Self.one[...] == Self.two) && Self.two[...] == Self.two)
        #expect("_design/\u{301}x".hasPrefix("_design/") && "\r\n".hasPrefix("\r") && "x\u{301}".hasSuffix("\u{301}"))
        #expect(!Self.two.hasPrefix(Self.one) && Self.two.hasPrefix("cafe") && "".hasPrefix("") && !"".hasPrefix("a"))
        switch Self.two {
        case Self.one: Issue.record("the other form")
        default: break
        }
    }

    @Test("Parts end between scalars, and letters beyond ASCII keep their case")
    func parts() {
        #expect("a/\u{301}b//".parts(separatedBy: "/") == ["a", "\u{301}b", "", ""])
        #expect("a/\u{301}b//".parts(separatedBy: "/", omittingEmpty: true) == ["a", "\u{301}b"])
        #expect("a=\u{301}b=c".parts(separatedBy: "=", maxSplits: 1) == ["a", "\u{301}b=c"])
        #expect("".parts(separatedBy: "/") == [""])
        #expect("tansu.\u{301}x".dropping(prefix: "tansu.") == "\u{301}x" && "x".dropping(prefix: "y") == nil)
        #expect("a?\u{301}b".prefixUntil("?") == "a" && "ab".prefixUntil("?") == "ab")
        #expect(" \ta \u{301}\t".trimmingSpaces == "a \u{301}" && "  ".trimmingSpaces == "" && "".trimmingSpaces == "")
        #expect("\u{212A}K\u{C9}".asciiLowercased == "\u{212A}k\u{C9}")
    }

    @Test("Sets and dictionaries of texts go by bytes")
    func sets() {
        #expect([Self.one, Self.two, Self.one].bytewiseSet.count == 2)
        #expect(Dictionary(uniqueKeysWithValues: [Self.one, Self.two].map { (BytewiseText($0), $0) }).count == 2)
        #expect(([BytewiseText(Self.one), BytewiseText(Self.two)].sorted().map(\.text)) == [Self.two, Self.one])
    }

    @Test("A document has both forms as keys, however it is made", arguments: [1, 30])
    func documents(_ others: Int) throws {
        let rest = (0..<others).map { ("k\($0)", BSONValue.int32(0)) }
        let fields = rest + [(Self.one, 1), (Self.two, 2)]
        let document = BSONDocument(fields)
        #expect(document.count == others + 2 && document[Self.one] == 1 && document[Self.two] == 2)
        let json = "{" + fields.map { "\"\($0.0)\": \($0.1 == 0 ? 0 : $0.1 == 1 ? 1 : 2)" }.joined(separator: ",") + "}"
        for parsed in [try BSONDocument(extendedJSON: json), try #require(BSONValue(plainJSON: json).documentValue)] {
            #expect(parsed.count == others + 2 && parsed[Self.one] == 1 && parsed[Self.two] == 2)
        }
        #expect(throws: BSONError.self) { try BSONDocument(extendedJSON: "{\"\(Self.one)\":1,\"\(Self.one)\":2}") }
        var changed = document
        changed[Self.two] = 3
        #expect(changed[Self.one] == 1 && changed[Self.two] == 3 && changed != document)
    }
}
