import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Paths of databases")
struct PathTests {
    @Test("A path is opened with await")
    func opening() async throws {
        let folder = try TemporaryFolder()
        let db = try await Database.open(path: folder.path("x"))
        try await db.collection("people").save(["_id": 1])
        try await db.close()
        let again = try await Database.open(path: folder.path("x"), options: .init(mustExist: true))
        #expect(try await again.collection("people").count() == 1)
        try await again.close()
    }

    @Test("A tilde is the home of a user that there is, and a name only after ./")
    func tilde() throws {
        let error = #expect(throws: TansuError.self) { try Database(path: "~nobody-has-this-name/x") }
        #expect(error?.code == .invalidArgument)
        // In the home nothing is created: the path is one of a file that is not there.
        let options = Database.Options(mustExist: true)
        for path in ["~/tansu-test-\(UUID())", "~"] {
            let error = #expect(throws: TansuError.self) { try Database(path: path, options: options) }
            #expect(error.map { !$0.description.contains("~") } == true, "\(String(describing: error))")
        }
        let db = try Database(.memory)
        for call in [
            { _ = try db.backup(to: "~nobody-has-this-name/x") }, { _ = try db.dump(to: "~nobody-has-this-name/x") },
            { _ = try db.load(from: "~nobody-has-this-name/x") },
            { _ = try Database.restore(from: "~nobody-has-this-name/x", to: "x") },
        ] as [() throws -> Void] {
            #expect(throws: TansuError.self) { try call() }
        }
        #expect(!FileManager.default.fileExists(atPath: "~nobody-has-this-name"))
    }
}
