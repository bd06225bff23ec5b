import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuCommand

/// The shell on a terminal; without libedit it has no completion, and the tests that need it are skipped.
@Suite("tansu shell on a terminal", .timeLimit(.minutes(20)))
struct ShellTerminalTests {
    private static let hasEditing =
        (try? DynamicLibrary(["libedit.so.2", "libedit.3.dylib"], package: "libedit2")) != nil

    /// A shell that a user types to.
    private struct Session {
        let command: Command
        let terminal: PseudoTerminal
        let process: Process

        /// - Parameter pager: What `$PAGER` is; with one the terminal has 10 lines.
        init(_ words: String..., in command: Command, pager: String = "") throws {
            self.command = command
            terminal = try PseudoTerminal()
            process = Process()
            process.executableURL = Command.products.appendingPathComponent("tansu")
            process.arguments = ["shell"] + words
            process.currentDirectoryURL = command.folder
            var environment = ProcessInfo.processInfo.environment
            environment["XDG_STATE_HOME"] = command.path("state")
            environment["TERM"] = "xterm"
            environment["LC_ALL"] = "C.UTF-8"
            environment["NO_COLOR"] = nil
            environment["PAGER"] = pager
            var size = winsize(ws_row: pager.isEmpty ? 0 : 10, ws_col: 80, ws_xpixel: 0, ws_ypixel: 0)
            try #require(ioctl(terminal.inner.fileDescriptor, UInt(TIOCSWINSZ), &size) == 0)
            process.environment = environment
            (process.standardInput, process.standardOutput) = (terminal.inner, terminal.inner)
            process.standardError = terminal.inner
            try process.run()
            try terminal.wait(for: "tansu> ")
        }

        func type(_ text: String, waitingFor answer: String) throws {
            try terminal.type(text)
            try terminal.wait(for: answer)
        }

        /// Ctrl-C, as the terminal of the process sends it.
        func interrupt() { kill(process.processIdentifier, SIGINT) }

        func end() throws {
            try terminal.type(".quit\n")
            process.waitUntilExit()
            #expect(process.terminationStatus == 0)
        }
    }

    @Test("Ctrl-C cancels a statement, a line, and not the shell; a transaction is rolled back")
    func cancelling() throws {
        let command = try Command.withPeople()
        try command.write(
            "long.txt",
            """
            count people
            aggregate people [
              {$set: {a: {$range: [0, 10000]}}}, {$unwind: '$a'}, {$set: {b: {$range: [0, 10000]}}}, {$unwind: '$b'},
              {$set: {c: {$range: [0, 10000]}}}, {$unwind: '$c'}, {$count: 'n'}
            ]
            """)
        let session = try Session("people.tansu", in: command)
        try session.type(".read long.txt\n", waitingFor: "\n3\r\n")
        Thread.sleep(forTimeInterval: 0.2)
        session.interrupt()
        try session.terminal.wait(for: "The statement was cancelled")
        try session.type(".begin\nremove people {_id: 7}\nsave people {_id: 8}\n", waitingFor: "1 document saved")
        try session.type(".read long.txt\n", waitingFor: "\n3\r\n")
        Thread.sleep(forTimeInterval: 0.2)
        session.interrupt()
        try session.terminal.wait(for: "the transaction was rolled back")
        try session.type("find people {\n", waitingFor: "...> ")
        // It counts once the line is being read.
        Thread.sleep(forTimeInterval: 0.2)
        session.interrupt()
        try session.terminal.wait(for: "tansu> ")
        try session.type("find people {_id: 7}\n", waitingFor: "Cem")
        try session.terminal.wait(for: "tansu> ")
        // Ctrl-D counts where a line is read.
        Thread.sleep(forTimeInterval: 0.1)
        try session.terminal.type("\u{4}")
        session.process.waitUntilExit()
        #expect(session.process.terminationStatus == 0)
    }

    @Test("documents cannot control the terminal, in any mode", arguments: ["pretty", "json", "table", "csv"])
    func escapes(mode: String) throws {
        let command = try Command()
        try command.write("x.ndjson", #"{"_id": 1, "t\u001b[31m": "a\u001b]0;x\u0007\u009b31m\u202eb"}"# + "\n")
        try command.succeed("import", "x.tansu", "x.ndjson", "--collection", "c")
        let session = try Session("x.tansu", in: command)
        try session.type(".mode \(mode)\nfind c\n.timer on\ncount c\n", waitingFor: "Time: ")
        try session.end()
        let shown = session.terminal.received
        for bad in ["\u{1B}]0", "\u{7}\u{9B}", "\u{9B}", "\u{202E}", "t\u{1B}[31m"] { #expect(!shown.contains(bad)) }
        #expect(shown.contains("\\u001b]0;x"))
    }

    @Test("a result that is longer than the screen goes through the pager, also one that ends early")
    func pager() throws {
        let command = try Command()
        try command.write("d.ndjson", (0..<5000).map { "{\"_id\": \($0)}\n" }.joined())
        try command.succeed("import", "d.tansu", "d.ndjson", "--collection", "c")
        let session = try Session("d.tansu", in: command, pager: "cat > paged.txt; echo paged")
        try session.type("find c limit 3\n", waitingFor: "2\u{1B}[0m}")
        #expect(!command.exists("paged.txt"))
        try session.type("find c limit 50\n", waitingFor: "paged\r\n")
        let paged = try command.text("paged.txt")
        #expect(paged.contains("\u{1B}[33m49\u{1B}[0m}\n"), "\(paged.suffix(100))")
        try session.end()
        let early = try Session("d.tansu", in: command, pager: "head -n 1 > /dev/null; echo left")
        try early.type("find c\n", waitingFor: "left\r\n")
        try early.type("count c\n", waitingFor: "\n5000\r\n")
        #expect(!early.terminal.received.contains("PAGER_LEFT"))
        try early.end()
        #expect(Pager.command(["PATH": "/nowhere"]) == nil)
        #expect(Pager.command(["PAGER": "more", "TERM": "dumb"]) == nil)
        #expect(Pager.command(["PAGER": "more"]) == "more")
    }

    @Test("Tab completes statements, collections, fields and operators", .enabled(if: hasEditing))
    func completion() throws {
        let session = try Session("people.tansu", in: Command.withPeople())
        try session.type("cou\tpeo\t{pets.s\t: {$exi\t: true}}\n", waitingFor: "\n2\r\n")
        try session.end()
    }

    @Test("the history is kept in a file of the user alone, without keys", .enabled(if: hasEditing))
    func history() throws {
        let command = try Command.withPeople()
        let session = try Session("people.tansu", in: command)
        try session.type("count people\n", waitingFor: "\n3\r\n")
        try session.type("{op: 'rekey', options: {passphrase: 'secret'}}\n", waitingFor: "]")
        try session.type("find people {\n_id: 7}\n", waitingFor: "Cem")
        try session.end()
        #expect(try command.text("state/tansu/history") == "count people\nfind people { _id: 7}\n.quit\n")
        let attributes = try FileManager.default.attributesOfItem(atPath: command.path("state/tansu/history"))
        #expect((attributes[.posixPermissions] as? NSNumber)?.intValue == 0o600)
        let next = try Session("people.tansu", in: command)
        try next.type("\u{1B}[A\u{1B}[A\u{1B}[A\n", waitingFor: "\n3\r\n")
        try next.end()
    }

    @Test(
        "of an encrypted database there is no history",
        .enabled(if: hasEditing && Database.engineLibraries.contains("libcrypto")))
    func secretHistory() throws {
        let command = try Command()
        try command.write("key", Array(0..<32))
        try command.succeed("save", "db.tansu", "people", "{}", "--key-file", "key")
        let session = try Session("db.tansu", "--key-file", "key", in: command)
        try session.type("count people\n", waitingFor: "\n1\r\n")
        try session.end()
        #expect(!command.exists("state/tansu/history"))
    }
}
