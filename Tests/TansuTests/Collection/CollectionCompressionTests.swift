import Foundation
import Tansu
import TansuBSON
import TansuTestSupport
import Testing

@Suite("Compressed collections")
struct CollectionCompressionTests {
    /// The bytes of the log's files.
    private func logBytes(_ path: String) throws -> Int {
        let folder = URL(fileURLWithPath: path).appendingPathComponent("log")
        return try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: [.fileSizeKey])
            .filter { $0.pathExtension == "seg" }
            .reduce(0) { try $0 + ($1.resourceValues(forKeys: [.fileSizeKey]).fileSize ?? 0) }
    }

    /// A database with 3,000 documents that resemble each other, or `nil` where the engine has no LZ4.
    private func filled(_ path: String, options: Database.Options = .init()) throws -> Database? {
        let db = try Database(path: path, options: options)
        do {
            try db.ensureCollection("plain")
            try db.ensureCollection("plain", compression: .lz4)
        } catch let error as TansuError where error.code == .unsupported {
            #expect(error.message.contains("LZ4"))
            return nil
        }
        let plain = try db.collection("plain")
        try db.write { transaction in
            let inside = try transaction.collection("plain")
            for number in 1...3000 {
                try inside.save([
                    "_id": BSONValue(number), "text": "the same words in every document, and its number",
                    "tags": ["red", "green", "blue"], "number": BSONValue(number % 10),
                ])
            }
        }
        #expect(try plain.count() == 3000)
        return db
    }

    @Test("Compaction makes the log smaller, and answers stay the same after opening again, with a small cache")
    func compact() throws {
        let folder = try TemporaryFolder()
        let path = folder.path("places")
        guard let db = try filled(path) else { return }
        let before = try db.collection("plain").find(["number": 7]).all()
        try db.compact()
        try db.close()
        #expect(try logBytes(path) < 3000 * 60)
        let again = try Database(path: path, options: .init(blockCacheBytes: 1))
        let plain = try again.collection("plain")
        #expect(try plain.find(["number": 7]).all() == before)
        #expect(try plain.get(1500)?["number"] == 0)
        #expect(try again.verify().problemCount == 0)
    }

    @Test("Setting it back has compaction store documents as they are")
    func back() async throws {
        let folder = try TemporaryFolder()
        let path = folder.path("places")
        guard let db = try filled(path) else { return }
        try await db.compact()
        try await db.ensureCollection("plain", compression: .uncompressed)
        try await db.compact()
        try await db.close()
        #expect(try logBytes(path) > 3000 * 120)
    }

    @Test("A rolled-back transaction sets nothing, and the name is checked")
    func rollBack() throws {
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("places"))
        #expect(throws: CancellationError.self) {
            try db.write { transaction in
                try transaction.ensureCollection("new")
                throw CancellationError()
            }
        }
        #expect(try db.collectionNames().isEmpty)
        #expect {
            try db.ensureCollection("", compression: .uncompressed)
        } throws: {
            ($0 as? TansuError)?.code == .invalidName
        }
    }
}
