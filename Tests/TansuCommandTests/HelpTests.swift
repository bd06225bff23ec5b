import ArgumentParser
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuCommand

@Suite("tansu --help")
struct HelpTests {
    /// Every command as a list of subcommand names.
    static let commands: [[String]] = leaves(RootCommand.self, [])

    private static func leaves(_ command: any ParsableCommand.Type, _ words: [String]) -> [[String]] {
        let inner = command.configuration.subcommands
        if inner.isEmpty { return [words] }
        return inner.flatMap { leaves($0, words + [$0._commandName]) }
    }

    /// The example commands of a help text.
    private static func examples(in help: String) -> [String] {
        help.split(separator: "\n").map(String.init).filter { line in
            line.hasPrefix("  ") && !line.hasPrefix("   ") && line.contains("tansu ")
        }
    }

    @Test("the help of every command has an abstract and examples", arguments: commands)
    func everyCommand(words: [String]) throws {
        let result = try Command().tansu(words + ["--help"], input: [])
        #expect(result.status == 0)
        #expect(result.output.contains("USAGE: tansu \(words.joined(separator: " "))"))
        #expect(result.output.contains("EXAMPLE"))
        #expect(!Self.examples(in: result.output).isEmpty)
        #expect(result.output.split(separator: "\n").contains { $0.hasPrefix("OVERVIEW: ") && $0.hasSuffix(".") })
    }

    @Test("the help and the page of the command line list all exit codes, and the page all commands")
    func exitCodes() throws {
        let help = try Command().tansu("--help").output
        let page = try String(
            contentsOf: URL(fileURLWithPath: #filePath).deletingLastPathComponent()
                .appendingPathComponent("../../docs/command-line.md"), encoding: .utf8)
        for status in CommandExitCode.allCases {
            #expect(help.contains("  \(status.rawValue) "))
            #expect(help.contains(status.explanation))
            #expect(page.contains("| \(status.rawValue) | \(status.explanation) |"))
        }
        let rows = page.components(separatedBy: "\n").filter { $0.hasPrefix("| `") || $0.hasPrefix("| [`") }
        for words in Self.commands {
            #expect(
                rows.contains { row in
                    let names = row.components(separatedBy: " | ")[0].split { !$0.isLetter }.map(String.init)
                    return words.allSatisfy(names.contains)
                }, "\(words)")
        }
    }

    @Test("the examples of the help run successfully")
    func examples() throws {
        let command = try Command.withPeople()
        try command.write("people.json.gz", gzipped("[{\"name\": \"Ann\"}, {\"name\": \"Bob\"}]"))
        try command.write("towns.csv", "name,address.zip\nYork,12345\n")
        try command.write("towns.txt", "name;founded\nYork;1190-03-16\n")
        for folder in ["old", "dump/shop"] {
            let path = command.path(folder)
            try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
        }
        try command.write("old/addressbook", TokyoCabinetWriter().file().bytes)
        try command.write("dump/shop/orders.bson", (["_id": 1] as BSONDocument).bytes)
        try command.write("dump/shop/orders.metadata.json", "{}")
        let hasSQLite = SQLiteFile.isInstalled
        if hasSQLite { try SQLiteFile(command.path("shop.db")).run("CREATE TABLE orders (item)") }
        try command.write("old.txt", "old passphrase\n")
        try command.write("new.txt", "new passphrase\n")
        // An example may use the results of the examples before it.
        let order = [
            "import", "export", "save", "find", "count", "shell", "exec", "watch", "schema", "diff", "copy", "bench",
            "get",
            "distinct", "aggregate", "update",
            "index create", "index list",
            "search", "complete", "suggest", "explain", "index advise", "index drop", "collections list",
            "collections create",
            "collections rename", "collections drop",
            "stats", "backup",
            "restore", "dump", "load", "verify", "repair", "compact", "encrypt", "decrypt", "rekey",
            "remove", "analyze",
        ]
        // The server runs until it is ended, and replication needs one.
        var seen: Set<[String]> = [["demo"], ["serve"], ["inspect"], ["replicate"]]
        for words in order.map({ $0.split(separator: " ").map(String.init) }) {
            seen.insert(words)
            let help = try command.tansu(words + ["--help"], input: []).output
            for example in Self.examples(in: help) {
                let result = try command.shell(example)
                // The library may have been built without LZ4, libcrypto or libstemmer.
                let hasNoKeys = !Database.engineLibraries.contains("libcrypto")
                let isSkipped =
                    (example.contains("lz4") || example.contains("--language")) && result.status == 69
                    || example.contains("passphrase") && hasNoKeys || example.contains("--sqlite") && !hasSQLite
                #expect(result.status == 0 || isSkipped, "\(example): \(result.error)")
            }
        }
        #expect(seen == Set(Self.commands))
    }
}
