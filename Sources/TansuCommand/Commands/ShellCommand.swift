import ArgumentParser
import Foundation
import Tansu

struct ShellCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "shell",
        abstract: "Runs statements that are typed, or those of a script.",
        discussion: """
            A statement is a word, a collection and JSON in a relaxed form, such as find people {age: {$gt: 30}} sort \
            {name: 1} limit 5. It ends with its line when all brackets are closed, with a semicolon, or with an empty \
            line. Commands that begin with a dot are the shell's own: .help lists them and the statements.

            On a terminal there are editing, history and completion by Tab (with libedit), a pager for long results, and \
            Ctrl-C, which cancels a statement. The statements of a script, from standard input, --file or --command, end \
            with the first that fails, whose exit code the shell has, unless --keep-going is given. What .begin has begun \
            and .commit has not committed at the end is rolled back, which is an error. With --json each document or other \
            result is JSON on a line of its own, but what a change has done is said in words; errors are objects.

            EXAMPLES:
              echo 'find people {age: {$gt: 30}} sort name' | tansu shell people.tansu
              tansu shell people.tansu -c '.mode table' -c 'find people limit 2'
            """
    )

    @OptionGroup var target: DatabaseArgument
    @Option(
        name: .shortAndLong, parsing: .unconditionalSingleValue,
        help: ArgumentHelp(
            "Run these statements instead of those on standard input; may be repeated.", valueName: "statement"))
    var command: [String] = []
    @Option(
        name: .shortAndLong, help: ArgumentHelp("Run the statements of this file.", valueName: "file"),
        completion: .file())
    var file: String?
    @Flag(help: "Go on after a statement of a script that fails. The exit code is that of the first.")
    var keepGoing = false
    @Flag(help: "Open the database for reading only, also beside a process that writes it.") var readonly = false
    @Flag(help: "Create the database if it does not exist.") var create = false
    @OptionGroup var output: OutputOptions

    func validate() throws {
        if readonly, create { throw ValidationError("\"--readonly\" cannot be combined with \"--create\"") }
        if file != nil, !command.isEmpty { throw ValidationError("\"--file\" cannot be combined with \"--command\"") }
    }

    func execute() throws -> CommandExitCode {
        let mode: OpenDatabase.Mode = readonly ? .read : create ? .create : .write
        let isInteractive = file == nil && command.isEmpty && isatty(STDIN_FILENO) == 1 && Terminal.output.isInteractive
        return try OpenDatabase.withOpenHandles(target, mode) { opened in
            // A pager may end before it has read everything.
            signal(SIGPIPE, SIG_IGN)
            ShellInterrupt.install(endsScript: !isInteractive)
            let shell = Shell(
                opened, isReader: readonly, opening: target.opening,
                output: ShellOutput(isInteractive: isInteractive))
            if output.json { shell.output.mode = .json }
            defer { try? shell.output.send(to: nil) }
            let status: CommandExitCode
            do { status = isInteractive ? try converse(shell) : try run(shell) } catch {
                _ = reportOpenTransaction(of: shell)
                throw error
            }
            return reportOpenTransaction(of: shell) && status == .success ? .incomplete : status
        }
    }

    /// Says that a transaction is rolled back, and returns whether there is one.
    private func reportOpenTransaction(of shell: Shell) -> Bool {
        guard shell.transaction != nil, !shell.isReader else { return false }
        CommandError(
            code: "NOT_COMMITTED", message: "The transaction was not committed and is rolled back",
            remedy: "\".commit\" keeps its changes", status: .incomplete
        ).report(asJSON: output.json)
        return true
    }

    /// Runs what a user types.
    private func converse(_ shell: Shell) throws -> CommandExitCode {
        let isEncrypted = try shell.opened.isEncrypted()
        let editor = LineEditor(
            isInteractive: true, source: try FileSource(path: "-"), history: isEncrypted ? nil : ShellHistory.ofUser()
        ) { text, word in shell.completion.words(for: text, word, in: shell) }
        try printLine("tansu \(Database.packageVersion). \".help\" lists the statements, Ctrl-D ends the shell.")
        _ = try Script.run(editor, named: nil, in: shell, isInteractive: true) { error in
            let failure = CommandError(error)
            if failure.code != Pager.left.code { failure.report(asJSON: output.json) }
        }
        return .success
    }

    /// Runs a script.
    private func run(_ shell: Shell) throws -> CommandExitCode {
        var status = CommandExitCode.success
        let source: any ByteSource =
            command.isEmpty
            ? try openByteSource(path: file ?? "-") : TextSource(command.map { $0 + "\n" }.joined(separator: "\n"))
        let editor = LineEditor(isInteractive: false, source: source, history: nil) { _, _ in [] }
        let name = command.isEmpty ? source.name : nil
        _ = try Script.run(editor, named: name, in: shell, isInteractive: false) { error in
            let failure = CommandError(error)
            guard keepGoing, !failure.isOfOutput, failure.status != .interrupted else { throw failure }
            failure.report(asJSON: output.json)
            if status == .success { status = failure.status }
        }
        return status
    }
}

/// A text as a source.
private final class TextSource: ByteSource {
    private var bytes: ArraySlice<UInt8>

    init(_ text: String) { bytes = Array(text.utf8)[...] }

    var fraction: Double? { nil }
    var name: String { "the command line" }

    func read(into memory: UnsafeMutableRawBufferPointer) -> Int {
        let part = bytes.prefix(memory.count)
        memory.copyBytes(from: part)
        bytes = bytes.dropFirst(part.count)
        return part.count
    }
}
