// Tansu next to GRDB, row by row, A B A B, in one process. Exit codes: 0 all rows ran and both libraries gave the same
// answers (whatever the times), 1 a library failed or the answers differ, 2 wrong usage.
import Foundation

/// A line of the result, not buffered: rows appear as they are measured.
func write(_ line: String) { FileHandle.standardOutput.write(Data((line + "\n").utf8)) }

func run(_ options: Options, in folder: String) async throws {
    let fixture = Fixture(documents: options.documents)
    let tansu = Subject("tansu", TansuPeer.self, TansuLibrary.self, folder: folder)
    let grdb = Subject("grdb", GRDBPeer.self, GRDBLibrary.self, folder: folder)
    var lines: [Line] = []
    if !options.json { write(Report.head) }
    for row in options.rows {
        var line = Line(row: row)
        for _ in 0..<(row.once ? 1 : options.repetitions) {
            var checks: [Int] = []
            if options.only != "grdb" {
                let outcome = try await row.run(fixture, tansu)
                line.tansu.append(outcome.value)
                checks.append(outcome.check)
            }
            if options.only != "tansu" {
                let outcome = try await row.run(fixture, grdb)
                line.grdb.append(outcome.value)
                checks.append(outcome.check)
            }
            try require(checks.allSatisfy { $0 == checks[0] }, "\(row.key): the answers differ")
        }
        lines.append(line)
        if !options.json { write(Report.text(line)) }
    }
    try tansu.close()
    try grdb.close()
    if options.json {
        write(
            Report.json(
                lines, documents: options.documents, versions: ["tansu": TansuPeer.version, "sqlite": GRDBPeer.version])
        )
    }
}

let arguments = CommandLine.arguments.dropFirst()
if arguments.contains("--help") {
    write(Options.help)
    exit(0)
}
func fail(_ error: any Error, code: Int32) -> Never {
    FileHandle.standardError.write(Data("run-swift: \(error)\n".utf8))
    exit(code)
}
let options: Options
do {
    options = try Options(arguments, temporary: ProcessInfo.processInfo.environment["TMPDIR"])
} catch {
    fail(error, code: 2)
}
let folder = options.folder + "/tansu-swift-peers-\(UUID().uuidString)"
do {
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try await run(options, in: folder)
} catch {
    fail(error, code: 1)
}
