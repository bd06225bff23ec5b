import ArgumentParser

struct InspectCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "inspect",
        abstract: "Shows a database in a browser.",
        discussion: """
            The command serves a page for browsers on this machine: collections, documents, queries and pipelines with \
            their plans, indexes, and what takes the space. The address that it prints lets in once. Ctrl-C ends it.

            Without --write nothing can be changed, and the database may be one that another process writes.

            EXAMPLES:
              tansu inspect people.tansu --open
              tansu inspect people.tansu --write --port 8000
            """
    )

    @OptionGroup var target: DatabaseArgument

    @Option(help: ArgumentHelp("Listen at this port; 0 takes a free one.", valueName: "n"))
    var port = 0

    @Flag(help: "Let the page change documents, indexes and collections.")
    var write = false

    @Flag(help: "Open the page in the browser of the desktop.")
    var open = false

    @OptionGroup var slow: SlowCallOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        guard (0...65_535).contains(port) else {
            throw ValidationError("\"--port\" must be between 0 and 65535, not \(port)")
        }
    }
}

#if TansuServer
import Foundation
import Tansu
import TansuBSON
import TansuServer

extension InspectCommand {
    func execute() throws -> CommandExitCode {
        guard #available(macOS 14, *) else {
            throw CommandError(code: "UNSUPPORTED", message: "The inspector needs macOS 14")
        }
        let slowCalls = slow.list()
        return try OpenDatabase.with(target, write ? .write : .follow, configure: slow.record(slowCalls)) { opened in
            do {
                try Interruption.handled { try waiting { try await serve(opened.database, slowCalls) } }
            } catch {
                throw CommandError(serving: error)
            }
            return .success
        }
    }

    @available(macOS 14, *)
    private func serve(_ database: Database, _ slowCalls: SlowCalls?) async throws {
        let inspector = try await Inspector.start(
            database, port: port, allowsWriting: write, slowCalls: slowCalls)
        try printResult(
            ["url": .string(inspector.url), "database": .string(target.database)],
            text: """
                \(target.database) is shown at
                \(inspector.url)
                The address lets in once. Ctrl-C ends the inspector.
                """,
            asJSON: output.json)
        if open { Self.show(inspector.url) }
        while (try? Interruption.check()) != nil { try await Task.sleep(for: .milliseconds(100)) }
        await inspector.stop()
    }

    /// Opens an address in the browser of the desktop, if there is one.
    private static func show(_ url: String) {
        #if os(macOS)
        let program = "open"
        #else
        let program = "xdg-open"
        #endif
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = [program, url]
        (process.standardOutput, process.standardError) = (FileHandle.nullDevice, FileHandle.nullDevice)
        do { try process.run() } catch { writeError("tansu: No browser could be opened: \(error)") }
    }
}

extension SlowCallOptions {
    /// A list, unless none is wanted.
    func list() -> SlowCalls? { slowCalls == 0 ? nil : SlowCalls() }

    /// Has the database that is opened list its slow calls.
    func record(_ list: SlowCalls?) -> (inout Database.Options) -> Void {
        { options in
            options.slowCallTime = .milliseconds(slowCalls)
            list?.record(&options)
        }
    }
}
#else
extension InspectCommand {
    func execute() throws -> CommandExitCode {
        throw CommandError(builtWithout: "the server", trait: "TansuServer")
    }
}
#endif
