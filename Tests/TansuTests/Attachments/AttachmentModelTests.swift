import Foundation
import TansuBSON
import TansuTestSupport
import Testing

@testable import Tansu

@Suite("Attachments: random sequences of calls next to a model")
struct AttachmentModelTests {
    private struct File: Equatable {
        var name: String
        var type: String
        var bytes: [UInt8]
    }

    /// The same calls on a database and on a dictionary.
    private struct Run {
        let folder: TemporaryFolder
        var database: Database
        var random: SeededGenerator
        var model: [String: [File]] = [:]
        var copies = 0
        let contents: [[UInt8]]

        init(seed: UInt64) throws {
            folder = try TemporaryFolder()
            database = try Database(path: folder.path("db.tansu"))
            random = SeededGenerator(seed: seed)
            let chunk = BlobLayout.chunkSize
            contents = [0, 1, 1000, chunk - 1, chunk, chunk + 1, 3 * chunk + 7, 17 * chunk].map {
                BlobTests.random($0)
            }
        }

        var people: Database.Collection<BSONDocument> {
            get throws { try database.collection("people") }
        }

        mutating func step() throws {
            let id = ["a", "b", "c", "d"].randomElement(using: &random) ?? "a"
            let name = ["x", "y", "z.txt"].randomElement(using: &random) ?? "x"
            let attachments = try people.attachments(of: id)
            switch Int.random(in: 0..<20, using: &random) {
            case 0...2:
                try people.save(["_id": .string(id), "v": .int32(.random(in: 0...9, using: &random))])
                if model[id] == nil { model[id] = [] }
            case 3...10:
                let type = ["text/plain", "x/y"].randomElement(using: &random) ?? ""
                let bytes = contents.randomElement(using: &random) ?? []
                guard model[id] != nil else {
                    #expect(throws: TansuError.self) { try attachments.add(bytes, name: name, type: type) }
                    return
                }
                try attachments.add(bytes, name: name, type: type)
                let file = File(name: name, type: type, bytes: bytes)
                if let index = model[id]?.firstIndex(where: { $0.name == name }) {
                    model[id]?[index] = file
                } else {
                    model[id]?.append(file)
                }
            case 11...12:
                #expect(try attachments.remove(name) == (model[id]?.contains { $0.name == name } ?? false))
                model[id]?.removeAll { $0.name == name }
            case 13...14:
                #expect(try people.remove(id: id) == (model[id] != nil))
                model[id] = nil
            case 15:
                try database.removeUnusedAttachments()
                try checkBlobs(in: database)
            case 16:
                try database.compact()
            case 17:
                try database.close()
                database = try Database(path: folder.path("db.tansu"))
            default:
                try killWhileWriting(id, name)
            }
        }

        /// What is on the disk while an attachment is being written is what a killed process leaves.
        private mutating func killWhileWriting(_ id: String, _ name: String) throws {
            let writer = try BlobWriter(database, contentType: "x/y")
            for _ in 0..<Int.random(in: 0...40, using: &random) { try writer.write(contents[4]) }
            copies += 1
            let path = folder.path("copy\(copies).tansu")
            try copyAsKilled(folder.path("db.tansu"), to: path)
            let killed = try Database(path: path)
            try check(killed)
            try killed.removeUnusedAttachments()
            try checkBlobs(in: killed)
            try check(killed)
            try killed.close()
            try FileManager.default.removeItem(atPath: path)
        }

        func check(_ database: Database) throws {
            let people = try database.collection("people")
            for id in ["a", "b", "c", "d"] {
                let attachments = people.attachments(of: id)
                let files = try attachments.list().map {
                    File(name: $0.name, type: $0.contentType, bytes: try attachments.bytes(of: $0.name))
                }
                #expect(files == model[id] ?? [])
            }
        }

        /// After a sweep there are the blobs of the model, each once, and nothing else.
        func checkBlobs(in database: Database) throws {
            var expected: [[String]: Int] = [:]
            for file in model.values.joined() {
                let size = file.type == "x/y" ? file.bytes.count : nil
                let key = [file.type, file.bytes.count.description]
                expected[key] = size.map { ($0 + BlobLayout.chunkSize - 1) / BlobLayout.chunkSize } ?? 0
            }
            let blobs = try database.collection(BlobLayout.blobs).find().all().map {
                try #require(try StoredBlob($0))
            }
            #expect(blobs.count == expected.count)
            let chunks = try database.collection(BlobLayout.chunks).count()
            #expect(chunks == blobs.reduce(0) { $0 + $1.chunks })
            #expect(chunks >= expected.values.reduce(0, +))
        }
    }

    @Test("Whatever is called in whatever order, the attachments are those of the model")
    func sequences() throws {
        let seed = SeededGenerator.seed()
        print("TANSU_SEED=\(seed)")
        for round in 0..<4 {
            var run = try Run(seed: seed &+ UInt64(round))
            for step in 0..<80 {
                try run.step()
                if step % 10 == 9 { try run.check(run.database) }
            }
            try run.check(run.database)
            try run.database.removeUnusedAttachments()
            try run.checkBlobs(in: run.database)
        }
    }

    @Test("Writers, readers and sweeps at the same time: nothing that is named is ever swept")
    func concurrency() async throws {
        let folder = try TemporaryFolder()
        let database = try Database(path: folder.path("db.tansu"))
        let people = try database.collection("people")
        try await people.save((0..<4).map { ["_id": .int32($0)] })
        // Few contents, so that one task names what another one has just dropped.
        let contents = (0..<3).map { BlobTests.random(BlobLayout.chunkSize * 2 + $0, UInt64($0)) }
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in 0..<4 {
                group.addTask {
                    var random = SeededGenerator(seed: UInt64(task))
                    let mine = people.attachments(of: task)
                    for _ in 0..<40 {
                        let content = contents.randomElement(using: &random) ?? []
                        try await mine.add(content, name: "x")
                        #expect(try await mine.bytes(of: "x") == content)
                        if Bool.random(using: &random) { try await mine.remove("x") }
                    }
                }
                group.addTask {
                    for _ in 0..<40 {
                        let other = people.attachments(of: (task + 1) % 4)
                        do {
                            var read: [UInt8] = []
                            for try await piece in try await other.stream(of: "x") { read += piece }
                            #expect(contents.contains(read))
                        } catch let error as TansuError {
                            #expect(error.code == .notFound)
                        }
                    }
                }
            }
            group.addTask { for _ in 0..<40 { try await database.removeUnusedAttachments() } }
            try await group.waitForAll()
        }
        for id in 0..<4 { try await people.attachments(of: id).removeAll() }
        try await database.removeUnusedAttachments()
        #expect(try await database.collection(BlobLayout.chunks).count() == 0)
    }
}
