import ArgumentParser
import Foundation
import TansuBSON

struct BenchCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "bench",
        abstract: "Measures how fast a database is on this machine.",
        discussion: """
            The command makes a database in a new folder, which it removes again, and measures inserts, durable commits, gets, \
            queries and scans for some seconds each. Beside them is what the machine itself can do: how often it syncs \
            4 KiB to the disk, and how fast it reads memory. A durable commit is bound by the first, and a scan by the \
            second. Measure in the folder, and so on the disk, where the database will be.

            EXAMPLES:
              tansu bench --seconds 0.01
              tansu bench . --seconds 0.01 --json
            """
    )

    @Argument(
        help: "The folder in which the database is made. The default is that of temporary files.",
        completion: .directory)
    var folder: String?
    @Option(help: ArgumentHelp("How long each measurement takes.", valueName: "n")) var seconds = 5.0
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0.001...3600).contains(seconds) else {
            throw ValidationError("\"--seconds\" must be between 0.001 and 3600, not \(seconds)")
        }
    }

    func execute() throws -> CommandExitCode {
        let parent = folder.map { URL(fileURLWithPath: $0) } ?? FileManager.default.temporaryDirectory
        try rejectDatabaseFolder(of: parent.appendingPathComponent("bench").path)
        let own = parent.appendingPathComponent("tansu-bench-\(UUID().uuidString)")
        let results = try Interruption.removing(own.path) { try Interruption.handled { try measure(own, parent) } }
        if output.json { try printResult(["results": BSONValue(results.map(Self.document))], text: "", asJSON: true) }
        return .success
    }

    /// Measures in a folder of its own, which is removed.
    private func measure(_ own: URL, _ parent: URL) throws -> [Benchmark.Result] {
        do { try FileManager.default.createDirectory(at: own, withIntermediateDirectories: false) } catch {
            throw CommandError(
                code: "IO", message: "Cannot create a folder in \"\(parent.path)\"", path: parent.path,
                remedy: "check the path and the permissions", status: .cannotCreate)
        }
        defer { try? FileManager.default.removeItem(at: own) }
        var results: [Benchmark.Result] = []
        try Benchmark(folder: own, time: .milliseconds(Int64(seconds * 1000))).run { result in
            results.append(result)
            if !output.json { try printLine(Self.line(result, results)) }
        }
        return results
    }

    /// A result in words: "durable commit of a document    1,200 per second   84 % of fdatasync after 4 KiB".
    private static func line(_ result: Benchmark.Result, _ results: [Benchmark.Result]) -> String {
        let name = result.name + String(repeating: " ", count: max(0, 34 - result.name.count))
        var text = "\(name)\(NumberFormat.perSecond(result.count, result.duration))"
        if result.bytes > 0 { text += ", \(NumberFormat.bytes(Int64(result.bytesPerSecond))) per second" }
        guard let floor = results.first(where: { $0.name == result.floor }) else { return text }
        let share = floor.bytes > 0 ? result.bytesPerSecond / floor.bytesPerSecond : result.perSecond / floor.perSecond
        return text + ", \(NumberFormat.decimals(share * 100, 0)) % of \(floor.name)"
    }

    private static func document(_ result: Benchmark.Result) -> BSONValue {
        var document: BSONDocument = [
            "name": .string(result.name), "count": BSONValue(result.count), "seconds": .double(result.seconds),
            "perSecond": .double(result.perSecond),
        ]
        if result.bytes > 0 { document["bytesPerSecond"] = .double(result.bytesPerSecond) }
        if let floor = result.floor { document["floor"] = .string(floor) }
        return .document(document)
    }
}
