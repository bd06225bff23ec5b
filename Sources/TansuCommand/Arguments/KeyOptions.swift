import ArgumentParser
import Foundation
import Tansu

/// The options for the key of an encrypted database. A key is never an argument, nor a variable of the environment, which
/// other users of the machine may read.
struct KeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the database's key from this file: 32 bytes, or 64 hexadecimal digits.", valueName: "file"),
        completion: .file())
    var keyFile: String?

    @Option(
        help: ArgumentHelp(
            "Run this command line, which prints the key as --key-file has it.", valueName: "command"))
    var keyCommand: String?

    @Option(
        help: ArgumentHelp(
            "Read the database's passphrase, the first line of this file. Without any of these options it is asked for "
                + "on a terminal.", valueName: "file"),
        completion: .file())
    var passphraseFile: String?

    @Option(
        help: ArgumentHelp(
            "Run this command line, which prints the passphrase as its first line.", valueName: "command"))
    var passphraseCommand: String?

    func validate() throws { try source.validate() }

    var source: KeySource {
        KeySource(
            prefix: "--", keyFile: keyFile, keyCommand: keyCommand, passphraseFile: passphraseFile,
            passphraseCommand: passphraseCommand)
    }

    /// The options that were given, as words of a command line, each after a space.
    var words: String {
        let options = [
            ("--key-file", keyFile), ("--key-command", keyCommand), ("--passphrase-file", passphraseFile),
            ("--passphrase-command", passphraseCommand),
        ]
        return options.compactMap { name, value in value.map { " \(name) \(shellQuoted($0))" } }.joined()
    }
}

/// The options for a new key.
struct NewKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp("Read the new key from this file: 32 bytes, or 64 hexadecimal digits.", valueName: "file"),
        completion: .file())
    var newKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "Run this command line, which prints the new key as --new-key-file has it.", valueName: "command"))
    var newKeyCommand: String?

    @Option(
        help: ArgumentHelp(
            "Read the new passphrase, the first line of this file. Without any of these options it is asked for on a "
                + "terminal, twice.", valueName: "file"),
        completion: .file())
    var newPassphraseFile: String?

    @Option(
        help: ArgumentHelp(
            "Run this command line, which prints the new passphrase as its first line.", valueName: "command"))
    var newPassphraseCommand: String?

    @Option(
        help: ArgumentHelp(
            "Hash the new passphrase so often, 256000 (the default) to 10000000: guessing it takes longer, and so does "
                + "opening the database.", valueName: "n"))
    var iterations: Int?

    func validate() throws {
        try source.validate()
        if iterations != nil, newKeyFile != nil || newKeyCommand != nil {
            throw ValidationError("\"--iterations\" is for a passphrase")
        }
        if let iterations, !(256_000...10_000_000).contains(iterations) {
            throw ValidationError("\"--iterations\" must be between 256000 and 10000000, not \(iterations)")
        }
    }

    var source: KeySource {
        KeySource(
            prefix: "--new-", keyFile: newKeyFile, keyCommand: newKeyCommand, passphraseFile: newPassphraseFile,
            passphraseCommand: newPassphraseCommand, iterations: iterations)
    }
}

extension NewKeyOptions {
    /// The key that the options name, or a passphrase that is asked for, typed twice: a mistake would lock everyone out.
    func keyOrAsked() throws -> DatabaseKey {
        if let key = try source.key() { return key }
        guard PassphrasePrompt.isPossible else {
            throw CommandError(
                code: "NO_KEY", message: "There is no new key", remedy: "give one of \(source.names)", status: .usage)
        }
        let passphrase = try PassphrasePrompt.ask("New passphrase")
        guard try PassphrasePrompt.ask("The same again") == passphrase else {
            throw CommandError(
                code: "NO_KEY", message: "The two passphrases differ", remedy: "nothing was changed",
                status: .invalidInput)
        }
        return .passphrase(passphrase, iterations: iterations)
    }
}

/// The options for a key that a backup or a dump is encrypted with.
struct EncryptionOptions: ParsableArguments {
    @Flag(
        help:
            "Encrypt it with a new key, which does not open the database. One of the options for that key implies this."
    )
    var encrypt = false

    @OptionGroup(title: "New key") var new: NewKeyOptions

    /// Whether there is to be a key.
    var isGiven: Bool { encrypt || new.source.isGiven }

    /// The key; nil when none was asked for.
    func key() throws -> DatabaseKey? { isGiven ? try new.keyOrAsked() : nil }
}

/// The options for the key of an encrypted dump.
struct DumpKeyOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "Read the dump's key from this file: 32 bytes, or 64 hexadecimal digits.", valueName: "file"),
        completion: .file())
    var dumpKeyFile: String?

    @Option(
        help: ArgumentHelp(
            "Run this command line, which prints the dump's key as --dump-key-file has it.", valueName: "command"))
    var dumpKeyCommand: String?

    @Option(
        help: ArgumentHelp("Read the dump's passphrase, the first line of this file.", valueName: "file"),
        completion: .file())
    var dumpPassphraseFile: String?

    @Option(
        help: ArgumentHelp(
            "Run this command line, which prints the dump's passphrase as its first line.", valueName: "command"))
    var dumpPassphraseCommand: String?

    func validate() throws { try source.validate() }

    var source: KeySource {
        KeySource(
            prefix: "--dump-", keyFile: dumpKeyFile, keyCommand: dumpKeyCommand, passphraseFile: dumpPassphraseFile,
            passphraseCommand: dumpPassphraseCommand)
    }
}

/// Where a key comes from.
struct KeySource {
    let prefix: String
    var keyFile: String?
    var keyCommand: String?
    var passphraseFile: String?
    var passphraseCommand: String?
    var iterations: Int?

    func validate() throws {
        if given.count > 1 { throw ValidationError("There is one key; give one of \(names)") }
    }

    private var given: [String] { [keyFile, keyCommand, passphraseFile, passphraseCommand].compactMap { $0 } }

    /// Whether an option names a key.
    var isGiven: Bool { !given.isEmpty }

    /// The options, for a message.
    var names: String {
        let names = ["key-file", "key-command", "passphrase-file", "passphrase-command"].map { "\"\(prefix)\($0)\"" }
        return names.dropLast().joined(separator: ", ") + " and " + names[3]
    }

    /// The key; nil when no option names one.
    ///
    /// - Throws: `CommandError` when it cannot be had, or is none. What was read is in no message.
    func key() throws -> DatabaseKey? {
        if let keyFile { return try Self.key(in: Self.bytes(ofFile: keyFile), from: keyFile) }
        if let keyCommand { return try Self.key(in: Self.output(of: keyCommand), from: "") }
        if let passphraseFile { return try passphrase(in: Self.bytes(ofFile: passphraseFile), from: passphraseFile) }
        if let passphraseCommand { return try passphrase(in: Self.output(of: passphraseCommand), from: "") }
        return nil
    }

    /// The key, or a passphrase that is asked for on a terminal.
    ///
    /// - Parameter owner: What it opens, for messages: "Backup saved.tansu".
    /// - Throws: `CommandError` when there is none.
    func keyOrAsked(of owner: String, _ path: String) throws -> DatabaseKey {
        if let key = try key() { return key }
        guard PassphrasePrompt.isPossible else {
            throw CommandError(
                code: "ENCRYPTED", message: "\(owner) \"\(path)\" is encrypted", path: path,
                remedy: "give its key with one of \(names)", status: .noPermission)
        }
        return .passphrase(try PassphrasePrompt.ask("Passphrase of \(path)"))
    }

    private static func key(in bytes: Data, from path: String) throws -> DatabaseKey {
        if bytes.count == 32 { return .bytes(bytes) }
        let text = String(decoding: bytes, as: UTF8.self).prefixUntil("\n").prefixUntil("\r")
        let digits = text.compactMap { $0.isASCII ? $0.hexDigitValue : nil }
        guard text.count == 64, digits.count == 64, bytes.count <= 66 else {
            throw CommandError(
                code: "INVALID_KEY", message: "The key is neither 32 bytes nor 64 hexadecimal digits", path: path,
                remedy: "make one with \"openssl rand -hex 32\", or give a passphrase", status: .invalidInput)
        }
        return .bytes((0..<32).map { UInt8(digits[2 * $0] << 4 | digits[2 * $0 + 1]) })
    }

    private func passphrase(in bytes: Data, from path: String) throws -> DatabaseKey {
        guard let text = String(data: bytes, encoding: .utf8)?.prefixUntil("\n").prefixUntil("\r"), !text.isEmpty else {
            throw CommandError(
                code: "INVALID_KEY", message: "The passphrase is empty, or not UTF-8", path: path,
                remedy: "it is the first line", status: .invalidInput)
        }
        return .passphrase(text, iterations: iterations)
    }

    private static func bytes(ofFile path: String) throws -> Data {
        do {
            return try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw CommandError(
                code: "NOT_FOUND", message: "The file \"\(path)\" cannot be read", path: path,
                remedy: "check the path and the permissions")
        }
    }

    /// What a command line prints. Its errors go where those of this program go.
    private static func output(of line: String) throws -> Data {
        let process = Process()
        let pipe = Pipe()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", line]
        process.standardOutput = pipe
        do { try process.run() } catch {
            throw CommandError(code: "NO_KEY", message: "The command for the key cannot be run", status: .noInput)
        }
        let bytes = try pipe.fileHandleForReading.readToEnd() ?? Data()
        process.waitUntilExit()
        guard process.terminationReason == .exit, process.terminationStatus == 0 else {
            throw CommandError(
                code: "NO_KEY", message: "The command for the key failed, with status \(process.terminationStatus)",
                remedy: "nothing was changed", status: .noInput)
        }
        return bytes
    }
}

/// A question for a passphrase, on a terminal that does not show it.
enum PassphrasePrompt {
    /// Whether there is somebody to ask.
    static var isPossible: Bool { isatty(STDIN_FILENO) == 1 && Terminal.error.isInteractive }

    /// - Throws: `CommandError` when nothing is typed, or the command is interrupted.
    static func ask(_ question: String) throws -> String {
        let writer = OutputWriter(descriptor: STDERR_FILENO)
        var settings = termios()
        guard tcgetattr(STDIN_FILENO, &settings) == 0 else { throw missing() }
        var silent = settings
        silent.c_lflag &= ~tcflag_t(ECHO)
        tcsetattr(STDIN_FILENO, TCSANOW, &silent)
        defer {
            tcsetattr(STDIN_FILENO, TCSANOW, &settings)
            try? writer.write("\n")
            try? writer.flush()
        }
        try writer.write("\(TextTable.printable(question)): ")
        try writer.flush()
        let line = try Interruption.handled { try Self.line() }
        guard !line.isEmpty else { throw missing() }
        return line
    }

    /// Reads a line, byte by byte: what follows is for others. The terminal is asked every now and then, so that an
    /// interruption ends the question with the terminal as it was.
    private static func line() throws -> String {
        var bytes: [UInt8] = []
        while true {
            try Interruption.check()
            var descriptor = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            guard poll(&descriptor, 1, 100) > 0 else { continue }
            var byte: UInt8 = 0
            guard read(STDIN_FILENO, &byte, 1) == 1, byte != UInt8(ascii: "\n") else {
                return String(decoding: bytes, as: UTF8.self)
            }
            bytes.append(byte)
        }
    }

    private static func missing() -> CommandError {
        CommandError(
            code: "NO_KEY", message: "No passphrase was given", remedy: "nothing was changed", status: .noInput)
    }
}
