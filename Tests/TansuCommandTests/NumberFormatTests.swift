import Testing

@testable import TansuCommand

@Suite("The formatting of numbers")
struct NumberFormatTests {
    @Test(arguments: [(0, "0"), (999, "999"), (34_006, "34,006"), (-1_234_567, "-1,234,567")])
    func grouped(value: Int, text: String) {
        #expect(NumberFormat.grouped(value) == text)
    }

    @Test(arguments: [(0.0004, "0 µs"), (0.085, "85 µs"), (3.24, "3.2 ms"), (395.2, "395 ms"), (12_345, "12.35 s")])
    func duration(milliseconds: Double, text: String) {
        #expect(NumberFormat.duration(milliseconds: milliseconds) == text)
    }

    @Test(arguments: [(12, "12 B"), (12_582_912, "12.6 MB"), (999_999, "1.0 MB")])
    func bytes(value: Int64, text: String) {
        #expect(NumberFormat.bytes(value) == text)
    }

    @Test func counts() {
        #expect(NumberFormat.count(1, "document") == "1 document")
        #expect(NumberFormat.count(34_006, "document") == "34,006 documents")
    }

    @Test(
        "a rate has two significant digits",
        arguments: [(34_006, 413, "82,000"), (999, 1000, "1,000"), (5, 2000, "3"), (123, 1000, "120")])
    func rates(count: Int, milliseconds: Int, text: String) {
        #expect(NumberFormat.perSecond(count, .milliseconds(milliseconds)) == text + " per second")
        #expect(NumberFormat.perSecond(count, .zero).isEmpty)
    }
}
