#if TansuSync
import Foundation
import TansuBSON
import Testing

@testable import TansuSync

@Suite("Mango: the documentation")
struct DocumentationTests {
    @Test("The examples of docs/mango.md are queries, and the operators that it names exist")
    func examples() throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/mango.md"), encoding: .utf8)
        let blocks = page.components(separatedBy: "```json\n").dropFirst().map {
            $0.components(separatedBy: "\n```")[0]
        }
        #expect(!blocks.isEmpty)
        for block in blocks {
            let query = try Mango.Query(try #require(try BSONValue(plainJSON: block).documentValue))
            let index = try Mango.Index(
                designDocument: "_design/a", name: "a",
                definition: ["fields": .array(BSONArray(query.sort.fields.map { .string($0) }))])
            let answer = try query.answer(
                [["_id": "x", "age": 30, "tags": ["new"]], ["_id": "y", "age": 20, "tags": ["new"]]],
                indexes: [index])
            #expect(answer.documents == [["_id": "x", "age": 30]])
        }
        let list = try #require(
            page.components(separatedBy: "Operators: ").dropFirst().first?.components(separatedBy: ".").first)
        let operators = list.split { !$0.isLetter && $0 != "$" }.filter { $0.hasPrefix("$") }
        #expect(operators.count == 22)
        for name in operators {
            // With another operand than text it is answered like an unknown operator.
            let operand: BSONValue = String(name) == "$beginsWith" ? .string("") : .null
            do throws(Mango.QueryError) {
                _ = try Mango.Selector(["a": .document(BSONDocument([(String(name), operand)]))])
            } catch {
                // A wrong argument, not an unknown operator.
                #expect(error.name == "bad_arg", "\(name)")
            }
        }
    }
}
#endif
