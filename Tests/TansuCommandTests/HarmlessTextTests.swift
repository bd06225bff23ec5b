import Foundation
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("Text of others on a terminal")
struct HarmlessTextTests {
    /// Controls, separators, characters of direction, and some without a form.
    private static let harmful: [Unicode.Scalar] = [
        "\u{1B}", "\u{7F}", "\u{85}", "\u{9B}", "\u{AD}", "\u{61C}", "\u{200B}", "\u{200F}", "\u{2028}", "\u{202E}",
        "\u{2066}",
        "\u{FEFF}", "\u{E0041}",
    ]

    @Test("what a terminal obeys or does not show is escaped, and JSON keeps its meaning", arguments: harmful)
    func escapes(scalar: Unicode.Scalar) throws {
        let escaped = TextTable.printable("a\(scalar)b")
        #expect(escaped.utf8.allSatisfy { (0x20...0x7E).contains($0) })
        #expect(try BSONValue(extendedJSON: "\"\(escaped)\"").stringValue == "a\(scalar)b")
    }

    @Test("letters, marks and joined emoji stay as they are", arguments: ["é日本", "e\u{301}", "👩‍👩‍👧", "می‌خواهم", "❤️"])
    func shown(text: String) { #expect(TextTable.printable(text) == text) }

    @Test("lines and styles of the program are kept, other sequences are not")
    func styles() {
        let text = "\u{1B}[1mé\u{1B}[0m\t\n\u{1B}[2Jx\u{1B}"
        let shown = String(decoding: HarmlessText.onTerminal(Array(text.utf8)[...]), as: UTF8.self)
        #expect(shown == "\u{1B}[1mé\u{1B}[0m\t\n\\u001b[2Jx\\u001b")
    }

    @Test("a character that is written in two parts")
    func parts() {
        let bytes = Array("aé日😀".utf8)
        #expect(
            (0...bytes.count).map { HarmlessText.incompleteTail(Array(bytes[..<$0])) } == [
                0, 0, 1, 0, 1, 2, 0, 1, 2, 3, 0,
            ])
    }

    @Test(
        "commands do no harm to a terminal, and their JSON keeps its meaning",
        arguments: [
            ["find", "d.tansu", "c"], ["find", "d.tansu", "c", "--json"], ["schema", "d.tansu", "c", "--json-schema"],
            ["watch", "d.tansu", "--since", "0", "--seconds", "0.2", "--json"], ["dump", "d.tansu"],
        ])
    func commands(words: [String]) throws {
        let command = try Command()
        let hostile = "a\u{9B}\u{202E}\u{2028}\u{E0041}b"
        try command.write("d.json", "{\"_id\": 1, \"\(hostile)\": \"\(hostile)\"}")
        try command.succeed("import", "d.tansu", "d.json", "--collection", "c")
        let terminal = try PseudoTerminal()
        let process = Process()
        process.executableURL = Command.products.appendingPathComponent("tansu")
        process.arguments = words
        process.currentDirectoryURL = command.folder
        (process.standardOutput, process.standardError) = (terminal.inner, FileHandle.nullDevice)
        try process.run()
        process.waitUntilExit()
        let shown = try terminal.shown()
        #expect(shown.contains("a\\u009b\\u202e\\u2028\\udb40\\udc41b"))
        #expect(!shown.unicodeScalars.contains { HarmlessText.isHarmful($0) && $0 != "\n" && $0 != "\r" })
    }
}
