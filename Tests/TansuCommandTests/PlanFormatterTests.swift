import TansuBSON
import Testing

@testable import TansuCommand

@Suite("The text of plans")
struct PlanFormatterTests {
    private func lines(_ report: BSONDocument) -> [String] {
        PlanFormatter(report, terminal: .plain) { "create \($0)" }.lines()
    }

    @Test("an index scan with its bounds and its cost")
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
                "Plan      index scan of by_age, backward",
                "Bounds    name = \"Ann\"",
                "          age ≥ 18 and < 30, or = 99",
                "Order     index order, no sort",
                "Examined  1 index key, 1,200 documents",
                "Returned  0 documents",
                "Time      250 µs",
                "Rejected  scan and sort",
            ])
    }

    @Test("a collection scan has a suggested index")
    func scan() {
        let report: BSONDocument = [
            "plan": ["kind": "scan", "sort": "memory"], "keysExamined": 0, "documentsExamined": 3,
            "returned": 3, "milliseconds": 12.0, "spilledBytes": 2048, "suggestion": ["age": -1],
        ]
        let lines = lines(report)
        #expect(
            lines == [
                "Plan             collection scan",
                "Order            sort in memory",
                "Examined         0 index keys, 3 documents",
                "Returned         3 documents",
                "Spilled          2,048 bytes to temporary files",
                "Time             12 ms",
                "Suggested index  create {\"age\":-1}",
            ])
    }

    @Test("a union has the bounds of its branches")
    func union() {
        let report: BSONDocument = [
            "plan": [
                "kind": "union",
                "branches": [
                    ["index": "by_a", "ranges": ["a": [["$gt": 1]]]],
                    ["index": "by_b", "ranges": ["b": [["$lte": 2], ["$begin": "x"]]]],
                ],
            ]
        ]
        #expect(
            lines(report).prefix(3) == [
                "Plan      union of 2 index scans: by_a, by_b",
                "Bounds    a > 1",
                "Bounds    b ≤ 2, or begins with \"x\"",
            ])
        #expect(lines(["plan": ["kind": "none"]]).first == "Plan      empty: no document can match")
    }

    @Test("at most five intervals of a path are shown")
    func manyValues() {
        let intervals = BSONArray((1...9).map { ["$eq": .int32($0)] })
        #expect(
            PlanFormatter.bounds(path: "n", intervals: intervals)
                == "n = 1, or = 2, or = 3, or = 4, or = 5, and 4 more")
    }

    @Test("the command for a suggested index is quoted for the shell")
    func command() {
        func words(_ keys: BSONDocument) -> String {
            String(OpenDatabase.indexCommand("my db", "c", keys: keys).split(separator: " index ").last ?? "")
        }
        #expect(words(["a.b": 1, "c": -1]) == "create 'my db' c a.b,-c")
        #expect(words(["a": -1]) == "create 'my db' c -a")
        #expect(words(["a,b": 1]) == "create 'my db' c '{\"a,b\":1}'")
    }
}
