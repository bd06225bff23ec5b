import Testing

@testable import TansuCommand

@Suite("The display width of text")
struct DisplayWidthTests {
    @Test(
        "East Asian characters take two columns, combining marks none",
        arguments: [
            ("", 0), ("abc", 3), ("São", 3), ("Sa\u{0303}o", 3), ("東京", 4), ("서울", 4), ("ｶﾅ", 2),
            ("日本 5", 6), ("👩‍👩‍👧", 2), ("🇧🇷", 2), ("☎\u{FE0F}", 2), ("ไทย", 3), ("กรุ", 2), ("a\u{200B}b", 2), ("का", 2),
        ])
    func width(text: String, expected: Int) {
        #expect(DisplayWidth.of(text) == expected)
    }
}
