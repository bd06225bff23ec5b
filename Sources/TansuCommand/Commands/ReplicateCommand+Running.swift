#if TansuSync
import Foundation
import Tansu
import TansuBSON
import TansuSync

extension ReplicateCommand {
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
        return try OpenDatabase.with(folder, isTarget && create ? .create : .write, opening) {
            var side = try collection(name, in: $0.database, folder, isTarget: isTarget)
            side.folder = path
            side.database = $0.database
            return try body(side)
        }
    }

    private func collection(
        _ name: String, in database: Database, _ folder: String, isTarget: Bool
    ) throws -> OpenedSide {
        try CommandLimits.check(name)
        guard try isTarget && create || database.collectionNames().contains(name) else {
            throw CommandError(
                code: "NOT_FOUND", message: "Collection \"\(name)\" does not exist", path: folder,
                remedy: isTarget ? "check the name, or create it with --create" : "check the name")
        }
        return OpenedSide(side: .collection(try database.collection(name).enableReplication()))
    }

    private func credentials(for url: String) throws -> RemoteCredentials {
        guard let user = userWithoutPassword(of: url) else { return .none }
        return .basic(
            user, password: try password(of: "The user \"\(user)\"", file: passwordFile, variable: "TANSU_PASSWORD"))
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
                    try waiting { await replication.stop() }
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
}
#else
extension ReplicateCommand {
    func execute() throws -> CommandExitCode {
        throw CommandError(builtWithout: "replication", trait: "TansuSync")
    }
}
#endif
