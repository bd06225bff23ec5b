import TansuBSON
import Testing

@testable import Tansu
@testable import TansuCommand

@Suite("The text of problems")
struct ProblemFormatterTests {
    @Test(
        "a line has the location and the message",
        arguments: [
            (
                ["file": "log-1.tlog", "offset": 4096, "collection": "people", "index": "by_name", "message": "m"],
                "log-1.tlog at 4,096, people, by_name: m"
            ),
            (["offset": 12, "message": "m"], "byte 12: m"),
            (["file": "a\nb", "message": "m"], "a\\nb: m"),
            (["message": "m"], "m"),
        ] as [(BSONDocument, String)])
    func line(problem: BSONDocument, text: String) {
        #expect(ProblemFormatter.line(Database.Problem(problem)) == text)
    }

    @Test("problems that are not listed are counted")
    func remainder() {
        let problem = Database.Problem(["message": "m"])
        #expect(ProblemFormatter.lines([problem, problem], of: 2) == ["m", "m"])
        #expect(ProblemFormatter.lines([problem, problem], of: 1202) == ["m", "m", "and 1,200 more"])
    }

    @Test("a document of a problem omits unknown properties")
    func document() {
        let known: BSONDocument = [
            "file": "f", "offset": 1, "size": 2, "collection": "c", "index": "i", "message": "m",
        ]
        let document = ProblemFormatter.document(Database.Problem(known))
        #expect(document.keys == ["file", "offset", "size", "collection", "index", "message"])
        #expect(ProblemFormatter.document(Database.Problem(["message": "m"])) == ["message": "m"])
    }

    @Test("an uncertain document has its collection, its id and the reason")
    func doubtful() {
        let document = Database.SuspectDocument(["collection": "people", "_id": 7, "reason": "older"])
        #expect(ProblemFormatter.line(document) == "people, 7: it is an older version, the newest is lost")
        #expect(ProblemFormatter.lines([document], of: 3).last == "and 2 more")
    }
}
