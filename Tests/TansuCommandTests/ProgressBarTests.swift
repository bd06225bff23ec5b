import Testing

@testable import TansuCommand

@Suite("The progress bar")
struct ProgressBarTests {
    @Test("it is never wider than the terminal", arguments: [10, 20, 40, 80, 200])
    func width(columns: Int) {
        let line = ProgressBar.text(
            label: "cities.ndjson.gz", documents: 21_000, fraction: 0.62, elapsed: .seconds(1), width: columns)
        #expect(DisplayWidth.of(line) < columns)
        #expect(line.hasPrefix(columns < 20 ? "  cities" : "  cities.ndjson.gz"))
    }

    @Test(
        "the fraction is clamped", arguments: [(-1, "   0%"), (0.999, "  99%"), (1.5, " 100%")] as [(Double, String)])
    func fraction(value: Double, percent: String) {
        let line = ProgressBar.text(
            label: "c", counted: nil, documents: 0, fraction: value, elapsed: .zero, width: 60)
        #expect(line.contains(percent))
        #expect(line.filter { $0 == "━" || $0 == "┈" }.count == 32)
    }

    @Test("it has the fraction, the count and the rate")
    func text() {
        let line = ProgressBar.text(
            label: "c.gz", documents: 21_000, fraction: 0.5, elapsed: .seconds(2), width: 60)
        #expect(line.contains(" 50%  21,000 documents  11,000 per second"))
        let filled = line.filter { $0 == "━" }.count
        #expect(filled > 0 && filled == line.filter { $0 == "┈" }.count)
    }
}
