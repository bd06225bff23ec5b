import Foundation
import TansuBSON
import Testing

@testable import Tansu
@testable import TansuCommand

@Suite("tansu import --mongodump")
struct MongoDumpTests {
    private let metadata = """
        {"options": {"capped": true, "validator": {"n": {"$gte": {"$numberInt": "0"}}}, "validationAction": "warn"},
         "indexes": [
          {"v": {"$numberInt": "2"}, "key": {"_id": {"$numberInt": "1"}}, "name": "_id_"},
          {"v": 2, "key": {"n": {"$numberDouble": "-1.0"}, "s": 1}, "name": "ns", "unique": true},
          {"v": 2, "key": {"at": 1}, "name": "ttl", "expireAfterSeconds": {"$numberInt": "3600"}},
          {"v": 2, "key": {"_fts": "text", "_ftsx": 1}, "name": "words", "weights": {"s": 1, "t": 5},
           "default_language": "none", "language_override": "language", "textIndexVersion": 3},
          {"v": 2, "key": {"loc": "2dsphere"}, "name": "geo"},
          {"v": 2, "key": {"$**": 1}, "name": "wild", "wildcardProjection": {"a": 1}},
          {"v": 2, "key": {"c": 1}, "name": "folded", "collation": {"locale": "en", "strength": 2}},
          {"v": 2, "key": {"p": 1}, "name": "part", "partialFilterExpression": {"p": {"$gt": 5}}, "hidden": true}],
         "uuid": "0123", "collectionName": "a/b", "type": "collection"}
        """

    private func documents(_ numbers: ClosedRange<Int>) -> [UInt8] {
        numbers.flatMap { number -> [UInt8] in
            (["_id": BSONValue(number), "n": BSONValue(number), "s": "word\(number)"] as BSONDocument).bytes
        }
    }

    /// A folder with the dump of a database "shop".
    private func withDump() throws -> Command {
        let command = try Command()
        for folder in ["dump/shop", "dump/admin"] {
            try FileManager.default.createDirectory(
                atPath: command.path(folder), withIntermediateDirectories: true)
        }
        try command.write("dump/admin/system.version.bson", documents(1...1))
        try command.write("dump/shop/a%2Fb.bson.gz", gzipped(documents(1...5)))
        try command.write("dump/shop/a%2Fb.metadata.json.gz", gzipped(metadata))
        try command.write("dump/shop/plain.bson", documents(1...3))
        try command.write("dump/shop/plain.metadata.json", "{\"indexes\": []}")
        try command.write("dump/shop/view.metadata.json", "{\"options\": {\"viewOn\": \"plain\"}}")
        try command.write("dump/shop/system.views.bson", documents(1...1))
        return command
    }

    @Test("the collections of a folder are imported with indexes and options, and what is left out is said")
    func folder() throws {
        let command = try withDump()
        let result = try command.tansu("import", "db", "--mongodump", "dump")
        // The view and the server's own collection are left out.
        #expect(result.status == 1)
        for words in [
            "\"view\" is a view", "\"system.views\" is a collection of the server", "Index \"geo\" is of the kind",
            "Index \"folded\" has a collation", "The option \"hidden\" of index \"part\"",
            "The option \"capped\" of the collection",
        ] {
            #expect(result.error.contains(words), "\(words)")
        }
        let db = try Database(path: command.path("db"))
        #expect(try db.collections().map { "\($0.name) \($0.documents)" } == ["a/b 5", "plain 3"])
        let indexes = try db.collection("a/b").indexDocuments()
        let byName = { (name: String) in indexes.first { $0["name"] == .string(name) } ?? [:] }
        #expect(indexes.count == 6)
        #expect(byName("ns")["keys"] == ["n": -1, "s": 1] && byName("ns")["unique"] == true)
        #expect(byName("ttl")["expireAfterSeconds"]?.intValue == 3600)
        #expect(byName("words")["keys"] == ["s": "text", "t": "text"])
        #expect(byName("words")["weights"]?.documentValue?["t"]?.intValue == 5)
        #expect(byName("wild")["keys"] == ["**": 1] && byName("wild")["only"] == ["a"])
        #expect(byName("folded")["caseInsensitive"] == true)
        #expect(byName("part")["partialFilter"] == ["p": ["$gt": 5]])
        // The validator only warns.
        try db.collection("a/b").save(["_id": 9, "n": -1])
        try db.collection("plain").save(["_id": 9, "n": -1])
    }

    @Test("one file is imported; what is damaged ends it with its place")
    func file() throws {
        let command = try Command()
        let whole = documents(1...4)
        try command.write("c.bson", whole + [0x20, 0, 0, 0, 1, 2])
        let result = try command.tansu("import", "db", "--mongodump", "c.bson")
        #expect(result.status == 1)
        #expect(result.error.contains("c.bson: There is no file of metadata"))
        #expect(result.error.contains("c.bson, byte \(whole.count): There is no document here"))
        #expect(try command.tansu("count", "db", "c").output == "4\n")
    }

    /// An archive with two collections, whose documents are in several blocks.
    private func archive() -> [UInt8] {
        let end: [UInt8] = [0xFF, 0xFF, 0xFF, 0xFF]
        func head(_ name: String, isEnd: Bool = false) -> [UInt8] {
            (["db": "shop", "collection": .string(name), "EOF": .bool(isEnd)] as BSONDocument).bytes
        }
        func description(_ name: String, _ metadata: String) -> [UInt8] {
            (["db": "shop", "collection": .string(name), "metadata": .string(metadata), "size": 1] as BSONDocument)
                .bytes
        }
        let preamble: BSONDocument = ["concurrent_collections": 4, "version": "0.1"]
        var archive = MongoArchive.magic + preamble.bytes + description("one", metadata)
        archive += description("two", "{}") + end
        archive += head("one") + documents(1...2) + end + head("two") + documents(1...1) + end
        archive += head("one") + documents(3...3) + end
        return archive + head("one", isEnd: true) + end + head("two", isEnd: true) + end
    }

    @Test("an archive is imported, also compressed, and one that ends too early is reported")
    func archives() throws {
        let command = try Command()
        try command.write("whole", gzipped(archive()))
        try command.write("cut", Array(archive().dropLast(130)))
        let result = try command.tansu("import", "db", "--mongodump", "whole")
        #expect(result.status == 0, "\(result.error)")
        #expect(try command.tansu("find", "db", "one").documents().map { $0["_id"] } == [1, 2, 3])
        #expect(try command.tansu("count", "db", "two").output == "1\n")
        let cut = try command.tansu("import", "other", "--mongodump", "cut")
        #expect(cut.status == 1 && cut.error.contains("The archive is damaged"))
        #expect(try command.tansu("count", "other", "two").output == "1\n")
    }

    @Test("an archive that ends anywhere before its end is reported, also between two blocks")
    func cutArchives() throws {
        let command = try Command()
        let whole = archive()
        for count in stride(from: whole.count - 1, to: whole.count - 400, by: -1) {
            try command.write("a", Array(whole[..<count]))
            // A head that is cut is refused.
            guard let dump = try? MongoDump(path: command.path("a")) else { continue }
            for (collection, expected) in zip(dump.collections, [3, 1]) {
                let source = try collection.open()
                var (documents, isDamaged) = (0, false)
                while let next = try source.nextDocument() {
                    if case .success = next.content { documents += 1 } else { isDamaged = true }
                }
                #expect(isDamaged || documents == expected, "\(collection.name), \(count)")
            }
        }
    }

    @Test("a folder without a dump, and one of several databases, are refused with words")
    func otherFolders() throws {
        let command = try withDump()
        try FileManager.default.createDirectory(atPath: command.path("dump/second"), withIntermediateDirectories: true)
        try command.write("dump/second/c.bson", documents(1...1))
        let several = try command.tansu("import", "db", "--mongodump", "dump")
        #expect(several.status == 65 && several.error.contains("has several databases; name one of the folders"))
        #expect(try command.tansu("import", "db", "--mongodump", ".").error.contains("has no files of mongodump"))
        try command.write("text", "{}")
        #expect(try command.tansu("import", "db", "--mongodump", "text").error.contains("is no file of mongodump"))
        #expect(!command.exists("db"))
    }

    @Test("no mutation of an archive is a crash or an endless loop")
    func mutations() throws {
        let command = try Command()
        let original = archive()
        for round in 0..<300 {
            var bytes = original
            for _ in 0..<Int.random(in: 1...6) {
                bytes[Int.random(in: 4..<bytes.count)] = [0, 0xFF, UInt8.random(in: 0...255)].randomElement() ?? 0
            }
            if round % 5 == 0 { bytes.removeLast(Int.random(in: 0..<(bytes.count - 4))) }
            try command.write("a", bytes)
            guard let dump = try? MongoDump(path: command.path("a")) else { continue }
            for collection in dump.collections {
                let source = try collection.open()
                var count = 0
                while try source.nextDocument() != nil { count += 1 }
                #expect(count < bytes.count)
            }
        }
    }
}
