import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Repair")
struct RepairTests {
    @Test("All but the corrupt document is salvaged, and the corrupt database is not changed")
    func repair() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("a.tansu")
        let db = try Database(path: path)
        let notes = try db.collection("notes")
        for id in 0..<10 { try notes.save(["_id": BSONValue(id), "text": .string("needle\(id)")]) }
        try notes.save(["_id": 10, "thread": .null])
        try notes.ensureIndex("text", on: ["text": .ascending])
        #expect(try code { try Database.repair(from: path, to: folder.path("new")) } == .locked)
        try db.close()
        try flipBit(at: "needle4", in: path)  // still a document, with another text
        try flipBit(at: "\nthread", in: path)  // the type of the field: none any more
        let report = try Database.repair(from: path, to: folder.path("new"))
        #expect(report.documents == 10 && report.unprotected == 1 && report.collections == 1)
        #expect(!report.isComplete && report.problems.allSatisfy { $0.file == "log/00000001.seg" })
        #expect(report.lostCommits >= 1 && report.lostDocuments == 1)
        #expect(report.suspects.contains { $0.collection == "notes" && $0.id == 4 && $0.reason == .unprotected })
        #expect(report.byCollection.map(\.name) == ["notes"] && report.byCollection.first?.documents == 10)
        let mended = try Database(path: folder.path("new"), options: .init(mustExist: true))
        #expect(try mended.collection("notes").find().all().count == 10)
        #expect(try mended.collection("notes").get(4)?["text"] == "oeedle4")
        #expect(try mended.collection("notes").get(10) == nil)
        try mended.verify()
        #expect(try code { try Database.repair(from: path, to: folder.path("new")) } == .exists)
        #expect(try code { try Database.repair(from: folder.path("none"), to: folder.path("n")) } == .notFound)
    }

    @Test("A valid database is salvaged completely")
    func sound() async throws {
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("a.tansu"))
        try await db.collection("notes").save([["_id": 1], ["_id": 2]])
        try await db.close()
        let report = try await Database.repair(from: folder.path("a.tansu"), to: folder.path("new"))
        #expect(report.documents == 2 && report.isComplete && report.problems.isEmpty)
        #expect(report.lostCommits == 0 && report.suspects.isEmpty && report.byCollection.first?.documents == 2)
    }
}
