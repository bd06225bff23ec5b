import TansuBSON
import Testing

@testable import TansuCommand

@Suite("Plans for people")
struct PlanTextTests {
    private func lines(_ report: BSONDocument) -> [String] {
        PlanText(report, terminal: .plain) { "create \($0)" }.lines()
    }

    @Test("an index, its bounds and what it took")
    func index() {
        let report: BSONDocument = [
            "plan": [
                "kind": "index", "index": "by_age",
                "ranges": ["name": [["$eq": "Ann"]], "age": [["$gte": 18, "$lt": 30], ["$eq": 99]]],
                "direction": "backward", "sort": "index",
            ],
            "candidates": [
                ["kind": "index", "index": "by_age", "chosen": true],
                ["kind": "scan", "sort": "memory", "chosen": false],
            ],
            "keysExamined": 1, "documentsExamined": 1200, "returned": 0, "milliseconds": 0.25,
        ]
        #expect(
            lines(report) == [
                "Plan       index by_age, read backward",
                "Bounds     name = \"Ann\"",
                "           age ≥ 18 and < 30, or = 99",
                "Order      as the index has it, so nothing is sorted",
                "Examined   1 index key, 1,200 documents",
                "Returned   0 documents",
                "Time       250 µs",
                "Not taken  scan and sort",
            ])
    }

    @Test("a scan says which index would help")
    func scan() {
        let report: BSONDocument = [
            "plan": ["kind": "scan", "sort": "memory"], "keysExamined": 0, "documentsExamined": 3,
            "returned": 3, "milliseconds": 12.0, "suggestion": ["age": -1],
        ]
        let lines = lines(report)
        #expect(lines.first?.contains("every document") == true)
        #expect(lines.contains { $0.hasPrefix("Order") && $0.hasSuffix("sorted in memory") })
        #expect(lines.last == "An index would help  create {\"age\":-1}")
    }

    @Test("many values of one path are cut short")
    func manyValues() {
        let intervals = BSONArray((1...9).map { ["$eq": .int32($0)] })
        #expect(
            PlanText.bounds(path: "n", intervals: intervals)
                == "n = 1, or = 2, or = 3, or = 4, or = 5, and 4 more")
    }

    @Test("the command for a suggested index is one that works")
    func command() {
        func words(_ keys: BSONDocument) -> String {
            String(Store.indexCommand("my db", "c", keys: keys).split(separator: " index ").last ?? "")
        }
        #expect(words(["a.b": 1, "c": -1]) == "create 'my db' c a.b,-c")
        #expect(words(["a": -1]) == "create 'my db' c '{\"a\":-1}'")
        #expect(words(["a,b": 1]) == "create 'my db' c '{\"a,b\":1}'")
    }
}
