import Foundation
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("Numbers as people read them")
struct NumbersTests {
    @Test(arguments: [(0, "0"), (999, "999"), (34_006, "34,006"), (-1_234_567, "-1,234,567")])
    func grouped(value: Int, text: String) {
        #expect(Numbers.grouped(value) == text)
    }

    @Test(arguments: [(0.0004, "0 µs"), (0.085, "85 µs"), (3.24, "3.2 ms"), (395.2, "395 ms"), (12_345, "12.35 s")])
    func duration(milliseconds: Double, text: String) {
        #expect(Numbers.duration(milliseconds: milliseconds) == text)
    }

    @Test(arguments: [(12, "12 B"), (12_582_912, "12.6 MB"), (999_999, "1.0 MB")])
    func bytes(value: Int64, text: String) {
        #expect(Numbers.bytes(value) == text)
    }

    @Test func counts() {
        #expect(Numbers.count(1, "document") == "1 document")
        #expect(Numbers.count(34_006, "document") == "34,006 documents")
        #expect(Numbers.perSecond(34_006, .milliseconds(413)) == "82,000 a second")
    }
}

@Suite("The progress line")
struct ProgressLineTests {
    @Test("it never is longer than the terminal is wide", arguments: [10, 20, 40, 80, 200])
    func width(columns: Int) {
        let line = ProgressLine.text(
            label: "cities.ndjson.gz", documents: 21_000, fraction: 0.62, elapsed: .seconds(1), width: columns)
        #expect(DisplayWidth.of(line) < columns)
    }

    @Test("it tells how much is read, and how fast")
    func text() {
        let line = ProgressLine.text(
            label: "c.gz", documents: 21_000, fraction: 0.5, elapsed: .seconds(2), width: 60)
        #expect(line.contains(" 50%  21,000 documents  11,000 a second"))
        #expect(line.filter { $0 == "━" }.count == line.filter { $0 == "┈" }.count)
    }
}

@Suite("Words of the command line")
struct ArgumentTests {
    @Test("an id is an ObjectID, JSON, or the text itself")
    func ids() throws {
        let hex = "5f0c2a9e1b3d4c5a6b7c8d9e"
        #expect(JSONArguments.id("7") == .int32(7))
        #expect(JSONArguments.id("mike") == .string("mike"))
        #expect(JSONArguments.id("\"7\"") == .string("7"))
        #expect(JSONArguments.id(hex) == ObjectID(hex).map(BSONValue.objectID))
        #expect(JSONArguments.id("{\"$oid\": \"\(hex)\"}") == ObjectID(hex).map(BSONValue.objectID))
        #expect(JSONArguments.id("1, \"a\": 2") == .string("1, \"a\": 2"))
    }

    @Test("an order is JSON or paths with commas")
    func order() throws {
        #expect(try JSONArguments.order("name,-age") == ["name": 1, "age": -1])
        #expect(try JSONArguments.order("{\"age\": -1}") == ["age": -1])
        #expect(throws: CommandFailure.self) { try JSONArguments.order("name,,age") }
    }

    @Test("fields are JSON or names with commas")
    func fields() throws {
        #expect(try JSONArguments.fields("name,pet.species") == ["name": 1, "pet.species": 1])
        #expect(try JSONArguments.fields("-tags") == ["tags": 0])
    }

    @Test(
        "a file names its collection",
        arguments: [
            ("people.ndjson", "people"), ("/data/cities.ndjson.gz", "cities"), ("plain", "plain"),
            ("-", nil), (".hidden", nil),
        ])
    func collections(file: String, collection: String?) {
        #expect(FileNames.collection(forFile: file) == collection)
    }

    @Test(
        "a word is quoted when the shell would take it apart",
        arguments: [("./a.tansu", "./a.tansu"), ("my db", "'my db'"), ("it's", "'it'\\''s'"), ("", "''")])
    func quoting(word: String, quoted: String) {
        #expect(FileNames.shellQuoted(word) == quoted)
    }

    @Test("an _id goes in front of the other fields, in valid BSON")
    func withID() throws {
        let document = (["name": "Ann"] as BSONDocument).withID(.int64(7))
        #expect(document == ["_id": .int64(7), "name": "Ann"])
        #expect(try BSONDocument(bytes: document.bytes) == document)
    }
}

@Suite("How the user calls the program")
struct ProgramNameTests {
    private func program(in command: Command, at path: String) throws -> String {
        let file = command.folder.appendingPathComponent(path)
        try FileManager.default.createDirectory(
            at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data().write(to: file)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file.path)
        return file.path
    }

    @Test("by its name where the shell finds it")
    func onPath() throws {
        let command = try Command()
        let program = try program(in: command, at: "bin/tansu")
        let name = ProgramName.name(
            executable: program, searchPath: "/nowhere:\(command.path("bin"))", folder: command.folder.path)
        #expect(name == "tansu")
    }

    @Test("by a path where the shell would find another")
    func hidden() throws {
        let command = try Command()
        _ = try program(in: command, at: "bin/tansu")
        let program = try program(in: command, at: "here/tansu")
        let name = ProgramName.name(
            executable: program, searchPath: command.path("bin"), folder: command.folder.path)
        #expect(name == "./here/tansu")
    }

    @Test("by the short path in the build folder after swift run")
    func built() throws {
        let command = try Command()
        let program = try program(in: command, at: ".build/some-machine/release/tansu")
        try FileManager.default.createSymbolicLink(
            atPath: command.path(".build/release"), withDestinationPath: "some-machine/release")
        let name = ProgramName.name(executable: program, searchPath: "", folder: command.folder.path)
        #expect(name == ".build/release/tansu")
    }
}
