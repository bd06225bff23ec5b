import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("The progress of opening")
struct OpeningProgressTests {
    private struct Stop: Error, Equatable {}

    /// A database of so many documents, each a commit, whose indexes have to be rebuilt.
    private func databaseWithoutIndexes(_ documents: Int, in folder: TemporaryFolder) throws -> String {
        let path = folder.path("people.tansu")
        do {
            let db = try Database(path: path, options: .init(durability: .process))
            let people = try db.collection("people")
            for id in 0..<documents { try people.save(["_id": BSONValue(id)]) }
            try db.close()
        }
        try FileManager.default.removeItem(atPath: path + "/index")
        return path
    }

    @Test("It grows up to the size of the log")
    func grows() throws {
        let folder = try TemporaryFolder()
        let path = try databaseWithoutIndexes(3000, in: folder)
        let reports = Collected<Database.Progress>()
        _ = try Database(path: path, options: .init(progress: { reports.append($0) }))
        let all = reports.all
        #expect(all.count > 1)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.done <= $1.done })
        #expect(all.last?.fraction == 1)
    }

    @Test("What the closure throws ends the opening, is rethrown, and nothing is lost")
    func cancelled() throws {
        let folder = try TemporaryFolder()
        let path = try databaseWithoutIndexes(3000, in: folder)
        #expect(throws: Stop()) { try Database(path: path, options: .init(progress: { _ in throw Stop() })) }
        let db = try Database(path: path)
        #expect(try db.collection("people").count() == 3000)
    }
}
