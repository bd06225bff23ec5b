import ArgumentParser
import Foundation
import Tansu

struct ExecCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "exec",
        abstract: "Runs the JSON commands on standard input.",
        discussion: """
            Each line of standard input is one JSON command (docs/json-commands.md). It is answered at once by one line \
            of JSON, an error by {"ok": false, "error": {…}}, so that a program can talk to a database through pipes. \
            What a command leaves open (a cursor, a transaction, a feed) ends with the input; a transaction that was not \
            committed is rolled back. With --readonly commands see the commit that was the newest at the opening, or at the \
            last command {"op": "refresh"}.

            The exit code is 0 whatever the answers are, unless --stop-at-error is given.

            EXAMPLES:
              echo '{"op": "count", "collection": "people"}' | tansu exec people.tansu
              echo '{"op": "find", "collection": "people"}' | tansu exec people.tansu --readonly --stop-at-error
            """
    )

    @OptionGroup var target: DatabaseArgument
    @Flag(help: "End with the first command that fails, with the exit code of its error.") var stopAtError = false
    @Flag(help: "Open the database for reading only, also beside a process that writes it.") var readonly = false
    @Flag(help: "Create the database if it does not exist.") var create = false
    @OptionGroup var output: OutputOptions

    /// The longest line, several times the largest document.
    static let lineLimit = 256 << 20

    func validate() throws {
        if readonly, create { throw ValidationError("\"--readonly\" cannot be combined with \"--create\"") }
    }

    func execute() throws -> CommandExitCode {
        // Who reads the answers may end before this: that is an error of the output.
        signal(SIGPIPE, SIG_IGN)
        let mode: OpenDatabase.Mode = readonly ? .read : create ? .create : .write
        return try OpenDatabase.withOpenHandles(target, mode) { opened in
            // A second signal is needed to end a command that runs.
            try Interruption.handled(cancel: {}) {
                try run(JSONRunner(database: opened.database), LineReader(FileSource(path: "-"), limit: Self.lineLimit))
            }
        }
    }

    private func run(_ runner: JSONRunner, _ lines: LineReader) throws -> CommandExitCode {
        var lines = lines
        var number = 0
        while let line = try lines.next() {
            number += 1
            let answer: String
            switch line {
            case .tooLong:
                answer =
                    CommandError(
                        code: "TOO_LARGE", message: "Line \(number) is longer than \(Self.lineLimit >> 20) MiB",
                        remedy: "save documents by several commands"
                    ).json
            case .text(let bytes):
                answer =
                    String(utf8: bytes).map { runner.response(to: $0) }
                    ?? CommandError(code: "INVALID_JSON", message: "Line \(number) is not valid UTF-8").json
            }
            try printLine(answer)
            if stopAtError, let status = Self.status(of: answer) { return status }
        }
        return .success
    }

    /// The exit status of an answer that is an error; nil for others.
    private static func status(of answer: String) -> CommandExitCode? {
        guard answer.hasPrefix("{\"ok\": false") else { return nil }
        let code = (try? BSONDocument(extendedJSON: answer))?["error"]?.documentValue?["code"]?.stringValue
        return CommandExitCode(errorCode: code ?? "")
    }
}
