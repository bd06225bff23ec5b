import Foundation
import TansuBSON
import TansuTestSupport
import Testing

import Tansu

/// What the documentation promises of attachments, from outside: by public calls alone.
@Suite("Attachments: what the documentation promises")
struct AttachmentAdversaryTests {
    private let folder: TemporaryFolder
    private let database: Database
    private let people: Database.Collection<BSONDocument>

    init() throws {
        folder = try TemporaryFolder()
        database = try Database(path: folder.path("db.tansu"), options: .init(durability: .process))
        people = try database.collection("people")
        try people.save([["_id": "mike"], ["_id": "anna"]])
    }

    private var chunks: Int { get throws { try database.collection("tansu.chunks").count() } }

    /// Bytes of which no two pieces are equal.
    private static func bytes(_ count: Int, seed: UInt64 = 1) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        return (0..<(count + 7) / 8).map { _ in random.next() }.withUnsafeBytes { Array($0.prefix(count)) }
    }

    @Test("Names are any text, and different when their bytes are")
    func names() throws {
        let mike = people.attachments(of: "mike")
        let names = [
            "", " ", "\u{1B}[31mred", "é", "e\u{301}", "../../etc/passwd", "a/b", "\u{202E}gnp.exe", "line\nbreak",
            "\u{FEFF}",
            "A", "a", "$a.b", String(repeating: "n", count: 10_000),
        ]
        for (index, name) in names.enumerated() { try mike.add([UInt8(index)], name: name, type: name) }
        #expect(try mike.list().map { Array($0.name.utf8) } == names.map { Array($0.utf8) })
        for (index, name) in names.enumerated() {
            #expect(try mike.bytes(of: name) == [UInt8(index)])
            #expect(try Array(#require(try mike.attachment(name)).contentType.utf8) == Array(name.utf8))
        }
        #expect(try mike.remove("e\u{301}"))
        #expect(try mike.bytes(of: "é") == [3])
        for name in ["_a", "_", "a\0b", "\0"] {
            #expect { try mike.add([1], name: name) } throws: { ($0 as? TansuError)?.code == .invalidName }
        }
        #expect(try mike.list().count == names.count - 1)
    }

    @Test("A list of attachments that no document can hold is refused, and nothing is left of the bytes")
    func hugeNames() throws {
        let mike = people.attachments(of: "mike")
        let huge = String(repeating: "n", count: 17 << 20)
        for add in [{ try mike.add([1], name: huge) }, { try mike.add([1], name: "a", type: huge) }] {
            #expect { try add() } throws: { ($0 as? TansuError)?.code == .tooLarge }
        }
        #expect(try mike.list().isEmpty)
        try database.removeUnusedAttachments()
        #expect(try chunks == 0)
    }

    @Test("A file of 50 MB comes through a stream in pieces, whole and in ranges")
    func large() async throws {
        let piece = Self.bytes(1 << 20)
        let source = AsyncStream { continuation in
            // Each piece is another one, so that the chunks are.
            for number in 0..<50 { continuation.yield([UInt8(number)] + piece) }
            continuation.finish()
        }
        let mike = people.attachments(of: "mike")
        let added = try await mike.add(source, name: "film.mp4", type: "video/mp4")
        #expect(added.length == 50 * Int64(piece.count + 1))
        var (position, isEqual) = (0, true)
        for try await part in try await mike.stream(of: "film.mp4") {
            #expect(part.count <= 256 << 10)
            let (number, start) = position.quotientAndRemainder(dividingBy: piece.count + 1)
            if start == 0 { isEqual = isEqual && part[0] == UInt8(number) }
            position += part.count
        }
        #expect(position == Int(added.length) && isEqual)
        let start = 49 * (piece.count + 1)
        let last = try await mike.bytes(of: "film.mp4", range: Int64(start)..<Int64.max)
        #expect(last == [49] + piece)
        await #expect { try await mike.bytes(of: "film.mp4", limit: 1 << 20) } throws: {
            ($0 as? TansuError)?.code == .tooLarge
        }
    }

    @Test("Ranges are clamped at the end, and begin inside")
    func ranges() throws {
        let mike = people.attachments(of: "mike")
        try mike.add([1, 2, 3], name: "a")
        try mike.add([], name: "empty")
        #expect(try mike.bytes(of: "a", range: 2..<100) == [3])
        #expect(try mike.bytes(of: "a", range: 3..<3) == [])
        #expect(try mike.bytes(of: "empty") == [] && mike.bytes(of: "empty", range: 0..<0) == [])
        for range: Range<Int64> in [3..<4, -1..<2, Int64.max - 1..<Int64.max, Int64.min..<0] {
            #expect { try mike.bytes(of: "a", range: range) } throws: { ($0 as? TansuError)?.code == .invalidArgument }
        }
    }

    @Test("Attachments go with their document, by whatever it is removed")
    func removal() throws {
        try database.setReferences([.init("boss", to: "people", onDelete: .cascade)], of: "pets")
        let pets = try database.collection("pets")
        func command(_ json: String) throws {
            let answer = try database.executeJSON(json)
            #expect(answer.hasPrefix(#"{"ok": true"#), "\(answer)")
        }
        let removals: [(String, () throws -> Void)] = [
            ("id", { try people.remove(id: "mike") }),
            ("query", { try people.remove(["_id": "mike"]) }),
            ("find and remove", { _ = try people.findAndRemove(["_id": "mike"]) }),
            ("$dropall", { try people.update(["_id": "mike"], ["$dropall": true]) }),
            ("drop", { try database.dropCollection("people") }),
            ("transaction", { try database.write { _ = try $0.collection("people").remove(id: "mike") } }),
            (
                "expiry",
                {
                    try command(
                        #"{"op": "createIndex", "collection": "people", "keys": {"born": 1}, "#
                            + #""options": {"expireAfterSeconds": 0}}"#)
                    try people.save(["_id": "mike", "born": .date(Date(timeIntervalSince1970: 0))])
                    try command(#"{"op": "expire"}"#)
                }
            ),
        ]
        for (name, remove) in removals {
            try people.save(["_id": "mike"])
            try people.attachments(of: "mike").add(Self.bytes(300_000), name: "a")
            try remove()
            #expect(try people.get("mike") == nil, "\(name)")
            #expect(try people.attachments(of: "mike").list().isEmpty, "\(name)")
            // A document that gets the id later has none.
            try people.save(["_id": "mike"])
            #expect(try people.attachments(of: "mike").list().isEmpty, "\(name)")
            try database.compact()
            #expect(try chunks == 0, "\(name)")
        }
        try pets.save(["_id": "cat", "boss": "mike"])
        try pets.attachments(of: "cat").add([1], name: "photo")
        #expect(try people.remove(id: "mike"))
        #expect(try pets.attachments(of: "cat").list().isEmpty)
        #expect(try database.removeUnusedAttachments() == 1)
    }

    struct Stop: Error {}

    @Test("What fails, or is cancelled, leaves the attachment that there was, and nothing else")
    func failures() async throws {
        let mike = people.attachments(of: "mike")
        try await mike.add([7], name: "a")
        let many = Self.bytes(6 << 20)
        let failing = AsyncThrowingStream<[UInt8], any Error> { continuation in
            continuation.yield(many)
            continuation.finish(throwing: Stop())
        }
        await #expect(throws: Stop.self) { try await mike.add(failing, name: "a") }
        // The bytes are written, but no commit may name them.
        try await database.setValidator(["files.type": ["$ne": "x/refused"]], for: "tansu.attachments.people")
        await #expect(throws: TansuError.self) { try await mike.add(many, name: "a", type: "x/refused") }
        try await database.setValidator(["_id.n": ["$lt": 20]], for: "tansu.chunks")
        await #expect(throws: TansuError.self) { try await mike.add(many, name: "a") }
        try await database.setValidator(nil, for: "tansu.chunks")
        let (endless, continuation) = AsyncStream.makeStream(of: [UInt8].self)
        continuation.yield(many)
        let adding = Task { try await mike.add(endless, name: "a") }
        while try chunks < 2 { await Task.yield() }
        adding.cancel()
        await #expect(throws: CancellationError.self) { try await adding.value }
        #expect(try await mike.list().map(\.length) == [1])
        #expect(try await mike.bytes(of: "a") == [7])
        try await database.removeUnusedAttachments()
        #expect(try chunks == 1)
        #expect(try await database.verify().problems.isEmpty)
    }

    @Test("A reader sees the old or the new bytes while they are replaced, never a mixture")
    func replacing() async throws {
        let mike = people.attachments(of: "mike")
        let contents = (0..<3).map { Self.bytes(600_000, seed: UInt64($0)) }
        try await mike.add(contents[0], name: "a")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for round in 0..<20 { try await mike.add(contents[round % 3], name: "a") }
            }
            for _ in 0..<2 {
                group.addTask {
                    for _ in 0..<20 {
                        #expect(contents.contains(try await mike.bytes(of: "a")))
                        do {
                            var streamed: [UInt8] = []
                            for try await piece in try await mike.stream(of: "a") { streamed += piece }
                            #expect(contents.contains(streamed))
                        } catch let error as TansuError {
                            #expect(error.code == .notFound)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await database.removeUnusedAttachments()
        #expect(try chunks == 3)
    }

    @Test("A transaction shows its own attachments, and its rollback leaves none")
    func transactions() throws {
        #expect(throws: Stop.self) {
            try database.write { transaction in
                let inside = try transaction.collection("people").attachments(of: "mike")
                try inside.add(Self.bytes(600_000), name: "a")
                #expect(try inside.list().count == 1)
                #expect(try people.attachments(of: "mike").list().isEmpty)
                throw Stop()
            }
        }
        #expect(try people.attachments(of: "mike").list().isEmpty)
        #expect(try chunks == 0)
        try people.attachments(of: "mike").add([1], name: "a")
        try database.read { snapshot in
            let old = try snapshot.collection("people").attachments(of: "mike")
            try people.attachments(of: "mike").add([2], name: "a")
            #expect(try old.bytes(of: "a") == [1])
            #expect { try old.add([3], name: "a") } throws: { ($0 as? TansuError)?.code == .readOnly }
        }
        #expect(try people.attachments(of: "mike").bytes(of: "a") == [2])
    }

    @Test("Backups, clones, dumps and a rename of the collection have them")
    func copies() throws {
        let photo = Self.bytes(300_000)
        try people.attachments(of: "mike").add(photo, name: "a", type: "image/png")
        try database.renameCollection("people", to: "humans")
        try database.backup(to: folder.path("backup"))
        try Database.restore(from: folder.path("backup"), to: folder.path("restored.tansu"))
        try database.dump(to: folder.path("dump"))
        let loaded = try Database(.memory)
        try loaded.load(from: folder.path("dump"))
        for copy in [loaded, try database.clone(to: .memory), try Database(path: folder.path("restored.tansu"))] {
            let humans = try copy.collection("humans")
            #expect(try humans.attachments(of: "mike").bytes(of: "a") == photo)
            #expect(try humans.attachments(of: "mike").list().map(\.contentType) == ["image/png"])
            #expect(try humans.remove(id: "mike"))
            #expect(try copy.removeUnusedAttachments() == Int64(photo.count))
        }
    }

    @Test("An encrypted database has no byte of them in its files")
    func encryption() throws {
        let (path, key) = (folder.path("secret.tansu"), DatabaseKey.bytes(Self.bytes(32)))
        let marker = Array("a secret that is easy to find".utf8)
        let secret = try Database(path: path, options: .init(key: key))
        let notes = try secret.collection("notes")
        try notes.save(["_id": 1])
        try notes.attachments(of: 1).add((0..<20_000).flatMap { _ in marker }, name: "marked name", type: "x/y")
        try secret.close()
        let files = try #require(FileManager.default.enumerator(atPath: path)).compactMap { $0 as? String }
        for file in files {
            guard let data = FileManager.default.contents(atPath: path + "/" + file) else { continue }
            #expect(data.range(of: Data(marker)) == nil && data.range(of: Data("marked name".utf8)) == nil, "\(file)")
        }
        let again = try Database(path: path, options: .init(key: key))
        #expect(try again.collection("notes").attachments(of: 1).list().map(\.length) == [Int64(20_000 * marker.count)])
    }

    @Test("A reader beside the writer sees them, and writes none; a closed database has an error")
    func readers() async throws {
        try await people.attachments(of: "mike").add([1, 2], name: "a")
        let reader = try Database(path: folder.path("db.tansu"), options: .init(allowWriter: true))
        let mike = try reader.collection("people").attachments(of: "mike")
        #expect(try await mike.bytes(of: "a") == [1, 2])
        await #expect { try await mike.add([1], name: "b") } throws: { ($0 as? TansuError)?.code == .readOnly }
        await #expect { try await mike.remove("a") } throws: { ($0 as? TansuError)?.code == .readOnly }
        try await reader.close()
        await #expect { try await mike.list() } throws: { ($0 as? TansuError)?.code == .closed }
    }
}
