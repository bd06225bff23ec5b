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
}
