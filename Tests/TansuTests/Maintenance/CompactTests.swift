import Tansu
import TansuTestSupport
import Testing

@Suite("Compaction")
struct CompactTests {
    @Test("The space of removed documents is reclaimed, and the others stay")
    func compact() throws {
        let folder = try TemporaryFolder()
        let options = Database.Options(segmentSize: 1 << 20, compactionPercent: 0)
        let db = try Database(path: folder.path("a.tansu"), options: options)
        let notes = try db.collection("notes")
        let text = String(repeating: "x", count: 10_000)
        for id in 0..<400 { try notes.save(["_id": BSONValue(id), "text": .string(text)]) }
        try notes.remove(["_id": ["$gte": 10]])
        let report = try db.compact()
        #expect(report.bytesAfter < report.bytesBefore / 2 && report.segments > 0)
        #expect(try notes.count() == 10)
        try db.compact()
        #expect(try notes.get(9)?["text"] == .string(text))
        try db.close()
        let again = try Database(path: folder.path("a.tansu"))
        #expect(try again.collection("notes").find().all().count == 10)
    }

    @Test("Invalid shares are rejected")
    func options() throws {
        #expect(try code { try Database(.memory, options: .init(compactionPercent: 101)) } != nil)
        #expect(try code { try Database(.memory, options: .init(compactionShare: 101)) } != nil)
    }
}
