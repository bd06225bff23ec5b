import Foundation
import Tansu
import Testing

@Suite("Encrypted backups and dumps", .enabled(if: Database.engineLibraries.contains("libcrypto")))
struct EncryptedCopiesTests {
    private let command: Command

    init() throws {
        command = try Command()
        try command.write("key", Array(0..<32))
        try command.write("other", Array(32..<64))
        try command.write("pass", "secret\n")
        try success("save", "db.tansu", "people", #"{"_id": 1, "name": "plum blossom"}"#, "--key-file", "key")
    }

    @discardableResult
    private func success(_ words: String...) throws -> CommandResult {
        let result = try command.tansu(words, input: [])
        try #require(result.status == 0, "\(words): \(result.error)")
        return result
    }

    private func failure(_ status: Int32, _ code: String, _ words: String...) throws {
        let result = try command.tansu(words, input: [])
        #expect(result.status == status && result.error.contains(code), "\(words): \(result.error)")
    }

    private func bytes(_ name: String) throws -> [UInt8] {
        Array(try Data(contentsOf: URL(fileURLWithPath: command.path(name))))
    }

    private func expectPerson(_ database: String, _ words: String...) throws {
        let result = try command.tansu(["get", database, "people", "1"] + words, input: [])
        #expect(result.output.contains("plum blossom"), "\(result.error)")
    }

    @Test("the backup of an encrypted database opens with its key", arguments: [[], ["--file"]])
    func sameKey(form: [String]) throws {
        let words = ["backup", "db.tansu", "saved", "--key-file", "key"] + form
        #expect(try command.tansu(words, input: []).status == 0)
        try failure(77, "ENCRYPTED", "restore", "saved", "restored.tansu")
        try failure(77, "WRONG_KEY", "restore", "saved", "restored.tansu", "--key-file", "other")
        try success("restore", "saved", "restored.tansu", "--key-file", "key")
        try expectPerson("restored.tansu", "--key-file", "key")
    }

    @Test("a backup may have a key of its own, or none")
    func otherKeys() throws {
        try success(
            "backup", "db.tansu", "saved", "--file", "--key-file", "key", "--new-passphrase-file", "pass",
            "--iterations", "256001")
        try failure(77, "WRONG_KEY", "restore", "saved", "restored.tansu", "--key-file", "key")
        try success("restore", "saved", "restored.tansu", "--passphrase-file", "pass")
        try expectPerson("restored.tansu", "--passphrase-file", "pass")
        try success("backup", "db.tansu", "plain", "--plain", "--key-file", "key")
        try failure(64, "not encrypted", "restore", "plain", "again.tansu", "--key-file", "key")
        try expectPerson("plain")
        try failure(64, "--plain", "backup", "db.tansu", "x", "--plain", "--encrypt", "--key-file", "key")
        try failure(64, "--new-key-file", "backup", "db.tansu", "x", "--encrypt", "--key-file", "key")
    }

    @Test("a dump is encrypted with a key of its own")
    func dumps() throws {
        try success("dump", "db.tansu", "--output", "dump", "--key-file", "key", "--new-key-file", "other")
        try success("dump", "db.tansu", "--output", "plain", "--key-file", "key")
        #expect(try !String(decoding: bytes("dump"), as: UTF8.self).contains("plum"))
        try failure(77, "--dump-key-file", "load", "copy.tansu", "dump")
        try failure(77, "WRONG_KEY", "load", "copy.tansu", "dump", "--dump-key-file", "key")
        try failure(64, "not encrypted", "load", "copy.tansu", "plain", "--dump-key-file", "key")
        try failure(65, "encrypted backup or dump", "import", "copy.tansu", "dump")
        try success("load", "copy.tansu", "dump", "--dump-key-file", "other")
        try expectPerson("copy.tansu")
        let words = ["load", "piped.tansu", "--dump-key-file", "other"]
        let piped = try command.tansu(words, input: try bytes("dump"))
        #expect(piped.status == 0, "\(piped.error)")
        try expectPerson("piped.tansu")
        try command.write("cut", Array(try bytes("dump").dropLast()))
        try failure(72, "CORRUPT", "load", "cut.tansu", "cut", "--dump-key-file", "other")
    }

    @Test("a copy without a key is plain, and this is said")
    func plainCopy() throws {
        let plain = try success("copy", "db.tansu", "plain.tansu", "--key-file", "key")
        #expect(plain.error.contains("Warning: \"db.tansu\" is encrypted, and its copy \"plain.tansu\" is not"))
        let words = ["copy", "db.tansu", "new.tansu", "--key-file", "key", "--new-key-file", "other"]
        #expect(try command.tansu(words, input: []).error.isEmpty)
        try failure(77, "open it by \"tansu shell\"", "shell", "plain.tansu", "-c", ".open new.tansu")
    }

    @Test("a passphrase is asked for on a terminal, and a new one twice")
    func prompt() throws {
        let dumping = ["dump", "db.tansu", "--output", "dump", "--key-file", "key", "--encrypt"]
        let dumped = try command.tansu(dumping, on: try PseudoTerminal(), typing: "one\none\n")
        #expect(dumped.status == 0, "\(dumped.error)")
        let loaded = try command.tansu(["load", "copy.tansu", "dump"], on: try PseudoTerminal(), typing: "one\n")
        #expect(loaded.status == 0, "\(loaded.error)")
        try success("backup", "db.tansu", "saved", "--key-file", "key", "--new-passphrase-file", "pass")
        let restored = try command.tansu(
            ["restore", "saved", "restored.tansu"], on: try PseudoTerminal(), typing: "secret\n")
        #expect(restored.status == 0 && restored.error.contains("Passphrase of saved: "), "\(restored.error)")
        try expectPerson("restored.tansu", "--passphrase-file", "pass")
    }
}
