import ArgumentParser
import Foundation
import Tansu
import TansuBSON

#if TansuSync
import TansuSync
#endif

struct ReplicateCommand: Subcommand {
    static let configuration = CommandConfiguration(
        commandName: "replicate",
        abstract: "Copies documents between databases, with servers too.",
        discussion: """
            SOURCE and TARGET are each a collection, as FOLDER/COLLECTION, or the URL of a database of CouchDB, of PouchDB \
            Server or of "tansu serve". What the target has already is not copied again. Documents, deletions, \
            conflicts and attachments are copied.

            The user is part of a URL, or that of --user. The password is part of the URL as well, or the first line of the \
            file of --password-file, or the value of the environment variable TANSU_PASSWORD. Two servers get the same one only \
            for users of the same name.

            EXAMPLE:
              tansu replicate people.tansu/people https://anna@example.org/people --create
              tansu replicate https://example.org/people people.tansu/people --both --continuous
              tansu replicate people.tansu/people copy.tansu/people --create --selector '{"age": {"$gt": 21}}'
            """
    )

    @Argument(help: "A collection, as FOLDER/COLLECTION, or a URL.")
    var source: String

    @Argument(help: "A collection, as FOLDER/COLLECTION, or a URL.")
    var target: String

    @Flag(help: "Copy from the target to the source as well.")
    var both = false

    @Flag(help: "Go on with later changes until Ctrl-C.")
    var continuous = false

    @Flag(help: "Create the target if it does not exist.")
    var create = false

    @Option(help: ArgumentHelp("Copy only the document with this id; may be repeated.", valueName: "id"))
    var id: [String] = []

    @Option(help: ArgumentHelp("Copy only documents that this Mango selector matches.", valueName: "json"))
    var selector: String?

    @Flag(
        help: """
            Write dates, binary data, ObjectIds and decimals for a server as plain JSON, not as extended JSON. They come back \
            from there as text and numbers.
            """)
    var plainJSON = false

    @Option(help: ArgumentHelp("The user for URLs that name none.", valueName: "name"))
    var user: String?

    @Option(help: ArgumentHelp("Read the password from this file.", valueName: "file"), completion: .file())
    var passwordFile: String?

    @Option(
        help: ArgumentHelp(
            "Trust only servers whose certificate goes back to one of this PEM file.", valueName: "file"),
        completion: .file())
    var trustedCertificates: String?

    @OptionGroup var opening: OpeningOptions
    @OptionGroup var output: OutputOptions

    func validate() throws {
        for (text, what) in [(source, "source"), (target, "target")] {
            try checkPath(text, of: what)
            guard text.contains("://") || Self.split(text) != nil else {
                throw ValidationError("The \(what) \"\(text)\" is neither FOLDER/COLLECTION nor a URL")
            }
        }
        let hasUser = user != nil || [source, target].contains { URLComponents(string: $0)?.user != nil }
        if passwordFile != nil, !hasUser {
            throw ValidationError(
                "\"--password-file\" needs a user: in a URL, such as https://anna@example.org/people, or \"--user\"")
        }
        let users = [source, target].compactMap(userWithoutPassword)
        if let first = users.first, users.contains(where: { $0 != first }) {
            throw ValidationError(
                "\"\(users.joined(separator: "\" and \""))\" would get the same password; write it into one of the URLs"
            )
        }
        if let trustedCertificates { try checkPath(trustedCertificates, of: "certificates") }
        if !id.isEmpty, selector != nil { throw ValidationError("\"--id\" and \"--selector\" exclude each other") }
    }

    /// The user of a URL whose password is in no URL; nil when it has none.
    private func userWithoutPassword(of url: String) -> String? {
        let parts = URLComponents(string: url)
        return url.contains("://") && parts?.password == nil ? parts?.user ?? user : nil
    }

    /// The folder and the collection; nil when one of them is missing.
    private static func split(_ text: String) -> (folder: String, collection: String)? {
        guard let slash = text.utf8.lastIndex(of: UInt8(ascii: "/")), slash > text.startIndex else { return nil }
        let collection = String(text[text.index(after: slash)...])
        return collection.isEmpty ? nil : (String(text[..<slash]), collection)
    }

    #if TansuSync
    func execute() throws -> CommandExitCode {
        var options = Replication.Options()
        options.trustedCertificates = trustedCertificates
        if !id.isEmpty { options.filter = .ids(id) }
        if let selector {
            // Objects of a selector such as {"$regex": "a"} are no values of extended JSON.
            guard let fields = try? BSONValue(wireJSON: selector.utf8, documentDepth: 100).documentValue else {
                throw CommandError(
                    code: "INVALID_JSON", message: "The selector \(selector) is no JSON object",
                    status: .invalidInput)
            }
            options.filter = .selector(fields)
        }
        options.createsTarget = create
        if plainJSON { options.jsonForm = .plain }
        let settings = options
        return try withSide(source, isTarget: false, other: nil) { near in
            try withSide(target, isTarget: true, other: near) { far in
                let direction: Replication.Direction = both ? .both : .push
                return try run(
                    try Replication(near.side, far.side, direction, continuous ? .continuous : .once, settings))
            }
        }
    }

    // MARK: Sides

    private struct OpenedSide {
        let side: ReplicationSide
        var folder: String?
        var database: Database?
    }

    private func withSide(
        _ text: String, isTarget: Bool, other: OpenedSide?, _ body: (OpenedSide) throws -> CommandExitCode
    ) throws -> CommandExitCode {
        if text.contains("://") {
            return try body(OpenedSide(side: .url(text, credentials: credentials(for: text))))
        }
        guard let (folder, name) = Self.split(text) else { return .usage }
        let path = URL(fileURLWithPath: folder).standardizedFileURL.path
        // Two collections of one database, which is opened once.
        if let other, other.folder == path, let database = other.database {
            return try body(try collection(name, in: database, folder, isTarget: isTarget))
        }
        return try OpenDatabase.with(folder, isTarget && create ? .create : .write, waiting: opening.timeout) {
            var side = try collection(name, in: $0.database, folder, isTarget: isTarget)
            side.folder = path
            side.database = $0.database
            return try body(side)
        }
    }

    private func collection(
        _ name: String, in database: Database, _ folder: String, isTarget: Bool
    ) throws -> OpenedSide {
        try OwnedCollection.check(name)
        guard try isTarget && create || database.collectionNames().contains(name) else {
            throw CommandError(
                code: "NOT_FOUND", message: "Collection \"\(name)\" does not exist", path: folder,
                remedy: isTarget ? "check the name, or create it with --create" : "check the name")
        }
        return OpenedSide(side: .collection(try database.collection(name).enableReplication()))
    }

    private func credentials(for url: String) throws -> RemoteCredentials {
        guard let user = userWithoutPassword(of: url) else { return .none }
        return .basic(user, password: try password(of: user))
    }

    private func password(of user: String) throws -> String {
        if let passwordFile {
            guard let text = try? String(contentsOfFile: passwordFile, encoding: .utf8) else {
                throw CommandError(
                    code: "NOT_FOUND", message: "The file \"\(passwordFile)\" cannot be read", path: passwordFile,
                    remedy: "check the path and the permissions")
            }
            let password = text.prefixUntil("\n").prefixUntil("\r")
            if !password.isEmpty { return password }
        } else if let password = ProcessInfo.processInfo.environment["TANSU_PASSWORD"], !password.isEmpty {
            return password
        }
        throw CommandError(
            code: "NO_PASSWORD", message: "The user \"\(user)\" has no password", path: passwordFile ?? "",
            remedy: "write it to a file and name it with --password-file, or set TANSU_PASSWORD", status: .usage)
    }

    /// The servers that are asked, without passwords.
    private var servers: [String] { [source, target].compactMap { try? RemoteURL($0).text } }

    // MARK: Running

    private func run(_ replication: Replication) throws -> CommandExitCode {
        try Interruption.handled {
            var shown = ""
            let start = Date()
            // The seconds after which the next line says that there is no answer yet.
            var patience: TimeInterval? = servers.isEmpty ? nil : 3
            while !replication.status.isEnd {
                do { try Interruption.check() } catch {
                    try Self.waiting { await replication.stop() }
                    guard continuous else { throw error }
                    break
                }
                let status = replication.status
                if continuous, !output.json, shown != status.description {
                    shown = status.description
                    try printResult([:], text: shown, asJSON: false)
                }
                // A server that is away is tried for minutes.
                if !continuous, case .offline = status, shown != status.description {
                    shown = status.description
                    patience = nil
                    writeError("tansu: \(shown)")
                } else if let seconds = patience, start.timeIntervalSinceNow < -seconds {
                    patience = status.progress.documentsRead == 0 ? seconds * 3 : nil
                    guard patience != nil else { continue }
                    writeError(
                        "tansu: Waiting for \(servers.joined(separator: " and ")) since \(Int(seconds)) s; Ctrl-C ends it"
                    )
                }
                Thread.sleep(forTimeInterval: 0.05)
            }
            if case .failed(let error, _) = replication.status {
                throw CommandError(error)
            }
            return try report(replication.status.progress)
        }
    }

    private func report(_ progress: Replication.Progress) throws -> CommandExitCode {
        let failures = progress.failures.map { failure -> BSONValue in
            .document([
                "id": .string(failure.id), "rev": failure.revision.map { .string($0.description) } ?? .null,
                "reason": .string(failure.reason),
            ])
        }
        var text =
            "\(NumberFormat.count(progress.documentsWritten, "revision")) copied, \(progress.failedDocuments) not copied."
        for failure in progress.failures {
            text += "\n\(failure.id) \(failure.revision?.description ?? ""): \(failure.reason)"
        }
        try printResult(
            [
                "read": BSONValue(progress.documentsRead), "written": BSONValue(progress.documentsWritten),
                "failed": BSONValue(progress.failedDocuments), "failures": .array(BSONArray(failures)),
            ], text: text, asJSON: output.json)
        return progress.failedDocuments == 0 ? .success : .incomplete
    }

    /// Runs asynchronous code to its end, while the main thread waits.
    private static func waiting(_ body: @escaping @Sendable () async -> Void) throws {
        let ended = DispatchSemaphore(value: 0)
        Task {
            await body()
            ended.signal()
        }
        ended.wait()
    }
    #else
    func execute() throws -> CommandExitCode {
        throw CommandError(
            code: "UNSUPPORTED", message: "This \"tansu\" was built without replication",
            remedy: "build it with \"swift build -c release --traits TansuSync\"", status: .unavailable)
    }
    #endif
}
