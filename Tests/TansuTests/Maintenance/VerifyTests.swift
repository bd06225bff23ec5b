import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Verification")
struct VerifyTests {
    @Test("The verification of a valid database counts everything")
    func sound() async throws {
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("a.tansu"))
        let numbers = try db.collection("numbers")
        try await numbers.save((0..<100).map { ["_id": BSONValue($0), "n": BSONValue($0)] })
        try await numbers.ensureIndex("n", on: ["n": .ascending])
        let report = try await db.verify()
        #expect(report.documents == 100 && report.problems.isEmpty && report.problemCount == 0)
        #expect(report.entries >= 100 && report.records >= 100 && report.frames > 0 && report.segments == 1)
        let again = { try db.verify() }
        #expect(try again() == report)
    }

    @Test("A flipped bit in a document makes it throw, with a report of the problems")
    func damaged() throws {
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("a.tansu"))
        try db.collection("notes").save(["_id": 1, "text": "the needle in the haystack"])
        try db.sync()
        try flipBit(at: "needle", in: folder.path("a.tansu"))
        do {
            try db.verify()
            Issue.record("the damage was not found")
        } catch let error as TansuError {
            #expect(error.code == .corrupt)
            let report = try #require(error.verifyReport)
            #expect(report.problemCount > 0 && report.problems.count == report.problemCount)
            #expect(report.problems.first?.message.isEmpty == false)
        }
    }

    @Test("What the progress closure throws ends the verification")
    func stopped() throws {
        struct Enough: Error {}
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("a.tansu"))
        try db.collection("a").save(["_id": 1])
        #expect(throws: Enough.self) { try db.verify { _ in throw Enough() } }
        try db.verify()
    }
}

/// Flips a bit of every place in a folder's files where a text stands.
func flipBit(at text: String, in folder: String) throws {
    var found = false
    for name in try FileManager.default.subpathsOfDirectory(atPath: folder) {
        let file = URL(fileURLWithPath: folder).appendingPathComponent(name)
        guard let bytes = try? Data(contentsOf: file), let place = bytes.range(of: Data(text.utf8)) else { continue }
        // In place: the open database sees it too.
        let handle = try FileHandle(forWritingTo: file)
        try handle.seek(toOffset: UInt64(place.lowerBound))
        try handle.write(contentsOf: Data([bytes[place.lowerBound] ^ 1]))
        try handle.close()
        found = true
    }
    try #require(found)
}
