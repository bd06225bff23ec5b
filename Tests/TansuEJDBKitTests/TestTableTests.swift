import Foundation
import Testing

/// `docs/ejdbkit.md` says which test stands for each of EJDBKit's.
@Suite("The table of EJDBKit's tests")
struct TestTableTests {
    private static let root = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    private static func sources() throws -> String {
        let tests = root.appendingPathComponent("Tests")
        let files = FileManager.default.enumerator(at: tests, includingPropertiesForKeys: nil)
        let swift = (files?.allObjects as? [URL] ?? []).filter { $0.pathExtension == "swift" }
        return try swift.map { try String(contentsOf: $0, encoding: .utf8) }.joined()
    }

    @Test("Every test that the table names exists, and it has each of EJDBKit's once")
    func titles() throws {
        let page = try String(contentsOf: Self.root.appendingPathComponent("docs/ejdbkit.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.contains("| `test") }.map { line in
            line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast()
                .map { $0.trimmingCharacters(in: .whitespaces) }
        }
        #expect(rows.count == 106)
        #expect(Set(rows.map { "\($0[0]) \($0[1])" }).count == rows.count)
        #expect(page.contains("the \(rows.count) tests"))
        let sources = try Self.sources()
        for row in rows {
            try #require(row.count == 4, "\(row)")
            #expect(!row[2].isEmpty)
            #expect(row[3].isEmpty || sources.contains("\"\(row[3])\""), "no test is titled \"\(row[3])\"")
        }
    }
}
