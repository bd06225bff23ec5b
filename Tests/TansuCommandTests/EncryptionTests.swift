import Foundation
import Tansu
import Testing

@Suite("Encrypted databases", .enabled(if: Database.engineLibraries.contains("libcrypto")))
struct EncryptionTests {
    private let command: Command
    private static let digits = String(repeating: "0aF1", count: 16)

    init() throws {
        command = try Command()
        try command.write("key", Array(0..<32))
        try command.write("digits", Self.digits + "\n")
        try command.write("pass", "secret\nsecond line\n")
    }

    private static let ways = [
        ["--key-file", "key"], ["--key-file", "digits"], ["--key-command", "cat key"], ["--passphrase-file", "pass"],
        ["--passphrase-command", "cat pass; echo x"],
    ]

    private func count(_ words: String...) throws -> CommandResult {
        try command.tansu(["count", "db.tansu", "people"] + words, input: [])
    }

    private func create(_ way: [String]) throws {
        let result = try command.tansu(["save", "db.tansu", "people", "{}"] + way, input: [])
        try #require(result.status == 0, "\(result.error)")
    }

    @Test("a database is created with a key, and opens with it only", arguments: ways)
    func opening(way: [String]) throws {
        try create(way)
        let none = try count()
        #expect(none.status == 77 && none.error.contains("ENCRYPTED") && none.error.contains("--passphrase-file"))
        let wrong = try count("--passphrase-command", "echo wrong")
        #expect(wrong.status == 77 && wrong.error.contains("WRONG_KEY"))
        let right = try command.tansu(["count", "db.tansu", "people"] + way, input: [])
        #expect(right.status == 0 && right.output == "1\n")
        let stats = try command.tansu(["stats", "db.tansu"] + way, input: [])
        #expect(stats.output.contains("aes-256-gcm"))
    }

    @Test("a database is encrypted and decrypted in its place")
    func converting() throws {
        try create([])
        let encrypt = try command.tansu(["encrypt", "db.tansu", "--new-key-file", "key"], input: [])
        #expect(encrypt.status == 0 && encrypt.output.contains("is encrypted"), "\(encrypt.error)")
        #expect(try count().error.contains("ENCRYPTED"))
        #expect(try count("--key-file", "key").output == "1\n")
        let again = try command.tansu(["encrypt", "db.tansu", "--new-key-file", "key"], input: [])
        #expect(again.status == 77 && again.error.contains("ENCRYPTED"))
        let wrong = try command.tansu(["decrypt", "db.tansu", "--passphrase-file", "pass"], input: [])
        #expect(wrong.status == 77 && wrong.error.contains("WRONG_KEY"))
        let decrypt = try command.tansu(["decrypt", "db.tansu", "--key-file", "key"], input: [])
        #expect(decrypt.status == 0, "\(decrypt.error)")
        #expect(try count().output == "1\n")
    }

    @Test("everything is encrypted anew, with another data key")
    func rekeyingEverything() throws {
        try create(["--key-file", "key"])
        let words = ["rekey", "db.tansu", "--everything", "--key-file", "key", "--new-key-file", "digits"]
        let result = try command.tansu(words, input: [])
        #expect(result.status == 0, "\(result.error)")
        #expect(try count("--key-file", "key").error.contains("WRONG_KEY"))
        #expect(try count("--key-file", "digits").output == "1\n")
    }

    @Test("a key for a database that is not encrypted is an error")
    func plain() throws {
        try create([])
        let result = try count("--key-file", "key")
        #expect(result.status == 64 && result.error.contains("not encrypted"))
        #expect(try count().output == "1\n")
    }

    @Test("a key that cannot be had, or is none, is an error that does not show what was read")
    func invalid() throws {
        try create(["--key-file", "key"])
        try command.write("short", "SECRET")
        try command.write("empty", "\nSECRET\n")
        let cases: [([String], Int32, String)] = [
            (["--key-file", "short"], 65, "INVALID_KEY"), (["--key-command", "cat short"], 65, "INVALID_KEY"),
            (["--passphrase-file", "empty"], 65, "INVALID_KEY"), (["--key-file", "none"], 66, "NOT_FOUND"),
            (["--key-command", "cat short; exit 3"], 66, "status 3"),
            (["--key-file", "key", "--passphrase-file", "pass"], 64, "one of"),
        ]
        for (words, status, text) in cases {
            let result = try command.tansu(["count", "db.tansu", "people"] + words, input: [])
            #expect(result.status == status, "\(words): \(result.error)")
            #expect(result.error.contains(text) && !result.error.contains("SECRET"), "\(result.error)")
        }
    }

    @Test("rekey replaces the key")
    func rekeying() throws {
        try create(["--key-file", "key"])
        let words = ["rekey", "db.tansu", "--key-file", "key"]
        let missing = try command.tansu(words, input: [])
        #expect(missing.status == 64 && missing.error.contains("--new-key-file"))
        let done = try command.tansu(words + ["--new-passphrase-file", "pass", "--iterations", "256001"], input: [])
        #expect(done.status == 0, "\(done.error)")
        #expect(try count("--key-file", "key").error.contains("WRONG_KEY"))
        #expect(try count("--passphrase-command", "echo secret").output == "1\n")
        #expect(try command.text("db.tansu/KEY").contains("256001"))
        let plain = try command.tansu("save", "plain.tansu", "people", "{}")
        #expect(plain.status == 0)
        let refused = try command.tansu("rekey", "plain.tansu", "--new-key-file", "key")
        #expect(refused.status == 64 && refused.error.contains("not encrypted"))
    }

    @Test("a passphrase is asked for on a terminal, and a new one twice")
    func prompt() throws {
        try create(["--passphrase-file", "pass"])
        let words = ["count", "db.tansu", "people"]
        let right = try command.tansu(words, on: try PseudoTerminal(), typing: "secret\n")
        #expect(right.status == 0 && right.output == "1\n")
        #expect(right.error.contains("Passphrase of db.tansu: "))
        let wrong = try command.tansu(words, on: try PseudoTerminal(), typing: "secreT\n")
        #expect(wrong.status == 77 && wrong.error.contains("WRONG_KEY"))
        let none = try command.tansu(words, on: try PseudoTerminal(), typing: "\n")
        #expect(none.status == 66 && none.error.contains("NO_KEY"))
        let rekey = ["rekey", "db.tansu"]
        let differ = try command.tansu(rekey, on: try PseudoTerminal(), typing: "secret\none\ntwo\n")
        #expect(differ.status == 65 && differ.error.contains("differ"))
        let same = try command.tansu(rekey, on: try PseudoTerminal(), typing: "secret\none\none\n")
        #expect(same.status == 0, "\(same.error)")
        #expect(try count("--passphrase-command", "echo one").output == "1\n")
        let plain = try command.tansu(["save", "plain.tansu", "a", "{}"], on: try PseudoTerminal(), typing: "")
        #expect(plain.status == 0 && !plain.error.contains("Passphrase"))
    }

    @Test("what is typed is not shown")
    func silence() throws {
        try create(["--passphrase-file", "pass"])
        let terminal = try PseudoTerminal()
        let process = try command.start(
            ["count", "db.tansu", "people"], input: terminal.inner, errors: terminal.inner)
        try terminal.wait(for: "Passphrase of db.tansu: ")
        try terminal.type("secret\n")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        #expect(try command.text("output") == "1\n")
        #expect(try !terminal.shown().contains("secret"))
    }

    #if TansuServer
    @Test("a server opens its database with the key")
    func serving() throws {
        try create(["--key-file", "key"])
        // It gets as far as the missing users with the key only.
        let words = ["serve", "db.tansu", "--bind", "0.0.0.0", "--port", "0"]
        #expect(try command.tansu(words, input: []).error.contains("ENCRYPTED"))
        #expect(try command.tansu(words + ["--key-file", "digits"], input: []).error.contains("WRONG_KEY"))
        #expect(try command.tansu(words + ["--key-file", "key"], input: []).error.contains("NEEDS_USERS"))
    }
    #endif

    #if TansuSync
    @Test("the folders of a replication have the same key")
    func replicating() throws {
        let saved = try command.tansu(
            ["save", "db.tansu", "people", #"{"_id": "mike"}"#, "--key-file", "key"], input: [])
        #expect(saved.status == 0)
        let words = ["replicate", "db.tansu/people", "copy.tansu/people", "--create"]
        #expect(try command.tansu(words, input: []).error.contains("ENCRYPTED"))
        let result = try command.tansu(words + ["--key-file", "key"], input: [])
        #expect(result.status == 0, "\(result.error)")
        let copied = try command.tansu(["count", "copy.tansu", "people", "--key-file", "key"], input: [])
        #expect(copied.output == "1\n")
    }
    #endif
}
