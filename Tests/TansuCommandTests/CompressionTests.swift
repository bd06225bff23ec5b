import Tansu
import TansuBSON
import Testing

@Suite("Compression of collections")
struct CompressionTests {
    /// Documents that compress well.
    private static let letters = (0..<2000).map {
        "{\"_id\": \($0), \"text\": \"\(String(repeating: "Dear Bob, ", count: 30))\"}\n"
    }.joined()

    /// Whether the library was built with LZ4.
    private static let isThere: Bool = {
        guard let database = try? Database(.memory) else { return false }
        defer { try? database.close() }
        return (try? database.ensureCollection("c", compression: .lz4)) != nil
    }()

    @Test("a collection is created with a compression, which can be changed", .enabled(if: isThere))
    func create() throws {
        let command = try Command()
        let create = ["collections", "create", "letters.tansu", "letters"]
        let made = try command.tansu(create + ["--compression", "lz4", "--json"], input: [])
        #expect(try made.json() == ["ok": true, "collection": "letters", "created": true, "compression": "lz4"])
        let again = try command.tansu(create, input: [])
        #expect(again.output == "Collection letters exists, compression lz4\n")
        try command.succeed("collections", "create", "letters.tansu", "plain")
        let list = try command.tansu("collections", "letters.tansu", "--json").json()
        #expect(
            list["collections"] == [
                ["name": "letters", "documents": 0, "compression": "lz4"], ["name": "plain", "documents": 0],
            ])
        let changed = try command.tansu(create + ["--compression", "none"], input: [])
        #expect(changed.output == "Collection letters exists, compression none\n")
        let plain = try command.tansu("collections", "create", "letters.tansu", "other")
        #expect(plain.output == "Collection other created, compression none\n")
        #expect(!(try command.tansu("collections", "letters.tansu").output.contains("compression")))
        #expect(try command.tansu(create + ["--compression", "zip"], input: []).status == 64)
    }

    @Test("an import creates a compressed collection, and stats show how small it is", .enabled(if: isThere))
    func importing() throws {
        let command = try Command()
        try command.write("letters.ndjson", Self.letters)
        try command.succeed("import", "letters.tansu", "letters.ndjson", "--compression", "lz4")
        let before = try command.tansu("stats", "letters.tansu", "--json").json()
        #expect(before["stats"]?.documentValue?["compressedBytes"] == nil)
        try command.succeed("compact", "letters.tansu")
        let after = try #require(try command.tansu("stats", "letters.tansu", "--json").json()["stats"]?.documentValue)
        let stored = try #require(after["compressedBytes"]?.intValue)
        let from = try #require(after["compressedFromBytes"]?.intValue)
        #expect(stored > 0 && stored * 3 < from)
        let text = try command.tansu("stats", "letters.tansu")
        #expect(text.output.contains("Compressed bytes") && text.output.contains("Compressed from bytes"))
        #expect(text.output.contains("compression") && text.output.contains("lz4"))
        #expect(try command.tansu("collections", "letters.tansu").output.contains("lz4"))
        #expect(try command.tansu("count", "letters.tansu", "letters").output == "2000\n")

        // Another import in its place keeps the compression, and a dump has it.
        try command.succeed("import", "letters.tansu", "letters.ndjson", "--drop", "--yes")
        #expect(try command.tansu("collections", "letters.tansu").output.contains("lz4"))
        try command.succeed("dump", "letters.tansu", "--output", "letters.dump")
        try command.succeed("load", "copy.tansu", "letters.dump")
        #expect(try command.tansu("collections", "copy.tansu").output.contains("lz4"))
    }

    @Test("plain objects are loaded into a compressed collection", .enabled(if: isThere))
    func loading() throws {
        let command = try Command()
        try command.write("letters.ndjson", Self.letters)
        let load = ["load", "letters.tansu", "letters.ndjson", "--compression", "lz4"]
        #expect(try command.tansu(load, input: []).status == 64)
        #expect(try command.tansu(load + ["--collection", "letters"], input: []).status == 0)
        #expect(try command.tansu("collections", "letters.tansu").output.contains("lz4"))
    }

    @Test("an import that fails leaves no collection", .enabled(if: isThere))
    func failing() throws {
        let command = try Command.withPeople()
        try command.write("letters.ndjson", "[1]")
        let words = ["import", "people.tansu", "letters.ndjson", "--compression", "lz4", "--strict"]
        #expect(try command.tansu(words, input: []).status == 65)
        #expect(try command.tansu("collections", "people.tansu").output.contains("letters") == false)
    }

    @Test("a library without LZ4 says so", .enabled(if: !isThere))
    func unsupported() throws {
        let command = try Command()
        let create = ["collections", "create", "letters.tansu", "letters", "--compression", "lz4"]
        let result = try command.tansu(create, input: [])
        #expect(result.status == 69)
        #expect(result.error.contains("UNSUPPORTED"))
    }
}
