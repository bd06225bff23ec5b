import Foundation
import TansuBSON
import Testing

/// The result of a run of the program.
struct CommandResult {
    var status: Int32
    var output: String
    var error: String

    var lines: [String] { output.split(separator: "\n").map(String.init) }

    /// The output of a run with --json.
    func json() throws -> BSONDocument { try BSONDocument(extendedJSON: output) }

    /// The documents of an output with one document per line.
    func documents() throws -> [BSONDocument] { try lines.map { try BSONDocument(extendedJSON: $0) } }
}

/// A temporary folder of a test, in which it runs the program.
final class Command {
    let folder: URL

    init() throws {
        folder = FileManager.default.temporaryDirectory
            .appendingPathComponent("tansu-command-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(at: folder) }

    /// The folder with the built program. The test bundle is in the same folder.
    static var products: URL {
        let bundle = Bundle.allBundles.first { $0.bundlePath.hasSuffix(".xctest") }
        return bundle?.bundleURL.deletingLastPathComponent() ?? Bundle.main.bundleURL
    }

    func path(_ name: String) -> String { folder.appendingPathComponent(name).path }

    func exists(_ name: String) -> Bool { FileManager.default.fileExists(atPath: path(name)) }

    func isFolder(_ name: String) -> Bool {
        var isFolder: ObjCBool = false
        return FileManager.default.fileExists(atPath: path(name), isDirectory: &isFolder) && isFolder.boolValue
    }

    func write(_ name: String, _ text: String) throws {
        try write(name, Array(text.utf8))
    }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try Data(bytes).write(to: folder.appendingPathComponent(name))
    }

    /// Runs `tansu` with these arguments in the folder.
    func tansu(_ words: String..., input: String = "") throws -> CommandResult {
        try run(Command.products.appendingPathComponent("tansu"), words, input: Array(input.utf8))
    }

    func tansu(_ words: [String], input: [UInt8]) throws -> CommandResult {
        try run(Command.products.appendingPathComponent("tansu"), words, input: input)
    }

    /// Runs `tansu` as a preparation of a test. The test fails when the exit code is not 0.
    func succeed(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) throws {
        let result = try run(Command.products.appendingPathComponent("tansu"), words, input: [])
        try #require(result.status == 0, "\(words): \(result.error)", sourceLocation: sourceLocation)
    }

    /// Runs a line in a shell that finds the built `tansu` by its name.
    func shell(_ line: String) throws -> CommandResult {
        try run(URL(fileURLWithPath: "/bin/sh"), ["-c", line], input: [])
    }

    /// Runs `tansu` with these arguments and with its standard error on a terminal.
    func tansu(_ words: [String], errorsOn terminal: PseudoTerminal) throws -> CommandResult {
        var result = try run(
            Command.products.appendingPathComponent("tansu"), words, input: [], errors: terminal.inner)
        result.error = try terminal.shown()
        return result
    }

    /// Runs `tansu` on a terminal, on which the user types a text.
    func tansu(_ words: [String], on terminal: PseudoTerminal, typing text: String) throws -> CommandResult {
        try terminal.type(text)
        var result = try run(
            Command.products.appendingPathComponent("tansu"), words, input: [], errors: terminal.inner,
            keyboard: terminal.inner)
        result.error = try terminal.shown()
        return result
    }

    /// Starts `tansu` in the folder, with its output in the files "output" and, unless it is given, "error".
    func start(_ words: [String], input: Any? = nil, errors: FileHandle? = nil) throws -> Process {
        let process = Process()
        process.executableURL = Command.products.appendingPathComponent("tansu")
        process.arguments = words
        process.currentDirectoryURL = folder
        for name in ["output", "error"] { try write(name, "") }
        process.standardInput = input ?? FileHandle.nullDevice
        process.standardOutput = try FileHandle(forWritingTo: folder.appendingPathComponent("output"))
        process.standardError = try errors ?? FileHandle(forWritingTo: folder.appendingPathComponent("error"))
        try process.run()
        return process
    }

    /// The text of a file in the folder.
    func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    /// - Parameters:
    ///   - errors: The destination of standard error, or `nil` for the result.
    ///   - keyboard: The source of standard input instead of `input`.
    private func run(
        _ program: URL, _ words: [String], input: [UInt8], errors: FileHandle? = nil, keyboard: FileHandle? = nil
    ) throws -> CommandResult {
        let process = Process()
        process.executableURL = program
        process.arguments = words
        process.currentDirectoryURL = folder
        var environment = ProcessInfo.processInfo.environment
        environment["PATH"] = "\(Command.products.path):\(environment["PATH"] ?? "/usr/bin:/bin")"
        process.environment = environment
        // Files, because a full pipe would block the program.
        let run = UUID().uuidString
        for (name, content) in [("input", input), ("output", []), ("error", [])] {
            try write(".\(run).\(name)", content)
        }
        let file = { (name: String) in self.folder.appendingPathComponent(".\(run).\(name)") }
        process.standardInput = try keyboard ?? FileHandle(forReadingFrom: file("input"))
        process.standardOutput = try FileHandle(forWritingTo: file("output"))
        process.standardError = try errors ?? FileHandle(forWritingTo: file("error"))
        try process.run()
        process.waitUntilExit()
        defer { for name in ["input", "output", "error"] { try? FileManager.default.removeItem(at: file(name)) } }
        return CommandResult(
            status: process.terminationReason == .exit ? process.terminationStatus : -1,
            output: String(decoding: try Data(contentsOf: file("output")), as: UTF8.self),
            error: String(decoding: try Data(contentsOf: file("error")), as: UTF8.self))
    }
}

/// Three people and their pets, the fixture of several tests.
let people = """
    {"_id": "ann", "name": "Ann", "age": 41, "pets": [{"species": "dog"}]}
    {"_id": "bob", "name": "Bob", "age": 25, "pets": [{"species": "cat"}, {"species": "dog"}]}
    {"_id": 7, "name": "Cem", "age": 33, "pets": []}

    """

extension Command {
    /// A folder with `people.tansu`, whose collection `people` contains the fixture.
    static func withPeople() throws -> Command {
        let command = try Command()
        try command.write("people.ndjson", people)
        let result = try command.tansu("import", "people.tansu", "people.ndjson")
        try #require(result.status == 0, "\(result.error)")
        return command
    }
}
