import Foundation
import TansuBSON
import Testing

@testable import Tansu
@testable import TansuCommand

@Suite("tansu import --ejdb")
struct EJDBImportTests {
    private static let resources = Bundle.module.bundleURL.appendingPathComponent("ejdb")

    private static func unpacked(_ name: String) throws -> [UInt8] {
        let source = try GzipSource(FileSource(path: resources.appendingPathComponent(name + ".gz").path))
        var bytes: [UInt8] = []
        while true {
            let chunk = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { memory, count in
                count = try source.read(into: UnsafeMutableRawBufferPointer(memory))
            }
            if chunk.isEmpty { return bytes }
            bytes += chunk
        }
    }

    /// A folder with the database that EJDB wrote.
    private static func withAddressbook(except missing: String? = nil) throws -> Command {
        let command = try Command()
        for (file, name) in [
            ("", ""), ("_contacts", "_contacts"), ("_empty", "_empty"), ("_strasse", "_straße"),
            ("_zipped", "_zipped notes"),
        ] where name != missing {
            try command.write("addressbook\(name)", unpacked("addressbook\(file)"))
        }
        return command
    }

    private static func id(_ number: Int) -> ObjectID {
        ObjectID(bytes: (0..<12).map { UInt8(truncatingIfNeeded: number >> (8 * (11 - $0))) }) ?? ObjectID()
    }

    private static func document(_ number: Int) -> BSONDocument {
        [
            "_id": .objectID(id(number)), "n": .int32(Int32(number)),
            "text": .string(String(repeating: "x", count: number * 7 % 200)),
        ]
    }

    /// A folder with a database of one collection "c".
    private static func withCollection(
        _ writer: TokyoCabinetWriter, _ columns: [(String, BSONDocument)] = []
    ) throws -> Command {
        let command = try Command()
        var list = TokyoCabinetWriter()
        list.isBigEndian = writer.isBigEndian
        list.addCollection("c", columns)
        try command.write("old", list.file().bytes)
        try command.write("old_c", writer.file().bytes)
        return command
    }

    private static func writer(_ count: Int, _ change: (inout TokyoCabinetWriter) -> Void = { _ in })
        -> TokyoCabinetWriter
    {
        var writer = TokyoCabinetWriter()
        change(&writer)
        for number in 0..<count { writer.add(document(number)) }
        return writer
    }

    @Test("all collections of a database that EJDB wrote are imported, with their indexes and options")
    func real() throws {
        let command = try Self.withAddressbook()
        let result = try command.tansu("import", "db", "--ejdb", "addressbook")
        #expect(result.status == 0, "\(result.error)")
        #expect(result.lines.count == 4 && result.output.contains("600 documents imported into contacts"))
        for (name, file) in [("straße", "strasse"), ("zipped notes", "zipped")] {
            let expected = try String(decoding: Self.unpacked("\(file).ndjson"), as: UTF8.self)
                .split(separator: "\n").map { try BSONDocument(extendedJSON: $0.utf8).bytes }
            let found = try command.tansu("find", "db", name, "{}", "--canonical").documents().map(\.bytes)
            #expect(Set(found) == Set(expected) && found.count == expected.count, "\(name)")
        }
        let db = try Database(path: command.path("db"))
        let infos = try db.collections()
        #expect(infos.map(\.name) == ["contacts", "empty", "straße", "zipped notes"])
        #expect(infos.map(\.documents) == [600, 0, 34, 171])
        let hasLZ4 = Database.engineLibraries.contains("liblz4")
        #expect(infos.map { $0.compression == .lz4 } == [false, false, false, hasLZ4])
        let indexes = try db.collection("contacts").indexes()
        #expect(
            Set(indexes.map { "\($0.name) \($0.isCaseInsensitive)" })
                == ["name_1 false", "name_1_ignoring_case true", "age_1 false", "tags_1 false"])
        try db.close()
        let again = try command.tansu("import", "db", "--ejdb", "addressbook", "--drop", "--collection", "contacts")
        #expect(again.status == 0 && again.output.contains("600 documents imported into contacts"))
        #expect(
            try command.tansu("index", "list", "db", "contacts", "--json").json()["indexes"]?.arrayValue?.count == 4)
        // EJDB's files are as they were.
        #expect(
            try Data(contentsOf: command.folder.appendingPathComponent("addressbook_empty"))
                == Data(Self.unpacked("addressbook_empty")))
    }

    @Test("a collection without its file is reported, and the others are imported; --collection selects one")
    func missingFile() throws {
        let command = try Self.withAddressbook(except: "_contacts")
        let result = try command.tansu("import", "db", "--ejdb", "addressbook", "--json")
        #expect(result.status == 1)
        let answer = try result.json()
        let fault = try #require(answer["faults"]?.arrayValue?.first?.stringValue)
        #expect(fault.contains("\"contacts\" was not imported completely"))
        #expect(answer["collections"]?.arrayValue?.count == 3)
        let one = try command.tansu("import", "other", "--ejdb", "addressbook", "--collection", "straße")
        #expect(one.status == 0 && one.lines.count == 1)
        #expect(try command.tansu("import", "third", "--ejdb", "addressbook", "--collection", "none").status == 66)
        #expect(!command.exists("third"))
    }

    @Test("either byte order, 64-bit offsets, compression and any alignment are read", arguments: [false, true])
    func forms(isBigEndian: Bool) throws {
        for (isLarge, isDeflated, alignment) in [
            (false, false, 0), (true, false, 4), (false, true, 2), (true, true, 0),
        ] {
            var writer = Self.writer(50) {
                $0.isBigEndian = isBigEndian
                ($0.isLarge, $0.isDeflated, $0.alignment) = (isLarge, isDeflated, alignment)
            }
            writer.addFreeBlock(64)
            writer.add(Self.document(50))
            let command = try Self.withCollection(writer)
            let result = try command.tansu("import", "db", "--ejdb", "old")
            #expect(result.status == 0, "\(result.error)")
            let found = try command.tansu("find", "db", "c", "{}").documents()
            #expect(found == (0...50).map(Self.document))
        }
    }

    @Test("what is damaged is reported with its place, and the records after it are found")
    func damage() throws {
        var bytes = try Self.writer(20).file().bytes
        let offsets = try Self.writer(20).file().offsets
        bytes.replaceSubrange((offsets[5])..<(offsets[5] + 30), with: repeatElement(0x20, count: 30))
        // Part of an old copy of a document, in a place that no tree leads to.
        bytes.replaceSubrange((offsets[12])..<(offsets[12] + 4), with: [0, 0, 0, 0])
        let command = try Self.withCollection(Self.writer(0))
        try command.write("old_c", bytes)
        let result = try command.tansu("import", "db", "--ejdb", "old")
        #expect(result.status == 1)
        #expect(result.error.contains("old_c, byte \(offsets[5]): There is no record where one should be"))
        #expect(result.error.contains("old_c, byte \(offsets[12]): "))
        #expect(try command.tansu("count", "db", "c").output == "18\n")
    }

    @Test("a file that ends too early gives the records that it has")
    func truncated() throws {
        let (bytes, offsets) = try Self.writer(20).file()
        let command = try Self.withCollection(Self.writer(0))
        try command.write("old_c", Array(bytes[..<(offsets[15] + 20)]))
        let result = try command.tansu("import", "db", "--ejdb", "old")
        #expect(result.status == 1 && result.error.contains("old_c, byte \(offsets[15]): "))
        #expect(try command.tansu("count", "db", "c").output == "15\n")
    }

    @Test("after a crash the records behind the end that the head names are read, and unused space is none")
    func crash() throws {
        let (bytes, offsets) = try Self.writer(20) { $0.isOpen = true }.file()
        let command = try Self.withCollection(Self.writer(0))
        var open = bytes + [UInt8](repeating: 0, count: 5000)
        // The head has the end before the last five records.
        withUnsafeBytes(of: UInt64(offsets[15]).littleEndian) { open.replaceSubrange(56..<64, with: $0) }
        try command.write("old_c", open)
        let result = try command.tansu("import", "db", "--ejdb", "old")
        #expect(result.status == 0, "\(result.error)")
        #expect(try command.tansu("count", "db", "c").output == "20\n")
    }

    @Test("the log of a transaction that did not end is undone, and a damaged one is refused")
    func log() throws {
        let writer = Self.writer(20) { $0.isOpen = true }
        let (before, offsets) = try writer.file()
        var after = before + [0xC8, 1, 2, 3]
        let range = offsets[3]..<(offsets[4])
        after.replaceSubrange(range, with: repeatElement(0x11, count: range.count))
        after.replaceSubrange(offsets[8]..<(offsets[8] + 9), with: repeatElement(0x12, count: 9))
        let command = try Self.withCollection(Self.writer(0))
        try command.write("old_c", after)
        // The first of two entries for a place has the bytes before the transaction.
        var log = writer.log(of: before, [0..<256, range, offsets[8]..<(offsets[8] + 9)])
        log += writer.log(of: after, [range]).dropFirst(8)
        try command.write("old_c.wal", log + [1, 2, 3])
        let result = try command.tansu("import", "db", "--ejdb", "old")
        #expect(result.status == 0, "\(result.error)")
        #expect(try command.tansu("find", "db", "c").documents() == (0..<20).map(Self.document))
        try command.write("old_c.wal", [UInt8](repeating: 0xFF, count: 300))
        let refused = try command.tansu("import", "other", "--ejdb", "old")
        #expect(refused.status == 1 && refused.error.contains("old_c.wal\" is damaged"), "\(refused.error)")
    }

    @Test("documents that end before the number in the head are reported as missing")
    func missingRecords() throws {
        var bytes = try Self.writer(5).file().bytes
        bytes[48] = 9
        let command = try Self.withCollection(Self.writer(0))
        try command.write("old_c", bytes)
        let result = try command.tansu("import", "db", "--ejdb", "old")
        #expect(result.status == 1 && result.error.contains("says that it has 9 records, and 5 were found"))
    }

    @Test("a file that is no database of EJDB is refused with words")
    func otherFiles() throws {
        let command = try Self.withAddressbook()
        try command.write("text", String(repeating: "text ", count: 100))
        try command.write("short", "ToKyO CaBiNeT\n")
        for (file, words) in [
            ("text", "is no database of Tokyo Cabinet"), ("short", "is no database of Tokyo Cabinet"),
            ("addressbook_contacts", "is one collection of a database of EJDB"), ("absent", "No such file"),
        ] {
            let result = try command.tansu("import", "db", "--ejdb", file)
            #expect(result.status >= 65 && result.error.contains(words), "\(result.error)")
            #expect(!command.exists("db"))
        }
        let hint = try command.tansu("import", "db", "addressbook")
        #expect(hint.status == 65 && hint.error.contains("--ejdb addressbook"))
        #expect(try command.tansu("import", "db").status == 64)
        #expect(try command.tansu("import", "db", "text", "--ejdb", "addressbook").status == 64)
    }

    @Test("names of collections are no paths to other files, and no escapes for the terminal")
    func hostileNames() throws {
        let command = try Command()
        var list = TokyoCabinetWriter()
        list.addCollection("../../etc/passwd")
        list.addCollection("a\u{1B}[2J")
        try command.write("old", list.file().bytes)
        let result = try command.tansu("import", "db", "--ejdb", "old")
        #expect(result.status == 1)
        #expect(result.error.contains("The name \"../../etc/passwd\" of a collection is invalid"))
        #expect(!result.error.contains("\u{1B}") && !result.output.contains("\u{1B}"))
    }

    @Test("no mutation of a file is a crash or an endless loop")
    func mutations() throws {
        let folder = try Command()
        var writer = Self.writer(12)
        writer.addFreeBlock(48)
        writer.add(Self.document(12))
        let files = try [false, true].map { isDeflated -> [UInt8] in
            var other = writer
            other.isDeflated = isDeflated
            return try other.file().bytes
        }
        var generator = SystemRandomNumberGenerator()
        let path = folder.path("old_c")
        for round in 0..<2000 {
            var bytes = files[round % 2]
            for _ in 0..<Int.random(in: 1...8, using: &generator) {
                let place = Int.random(in: 0..<bytes.count, using: &generator)
                // Interesting values more often than any.
                bytes[place] = [0, 0xFF, 0xC8, 0xB0, 0x80, UInt8.random(in: 0...255)].randomElement() ?? 0
            }
            if round % 7 == 0 { bytes.removeLast(Int.random(in: 0..<bytes.count, using: &generator)) }
            try Data(bytes).write(to: URL(fileURLWithPath: path))
            guard let documents = try? EJDBDocuments(path: path) else { continue }
            var count = 0
            while let document = try documents.nextDocument() {
                count += 1
                if case .success(let value) = document.content { #expect(!value.bytes.isEmpty) }
            }
            #expect(count <= bytes.count)
        }
    }
}
