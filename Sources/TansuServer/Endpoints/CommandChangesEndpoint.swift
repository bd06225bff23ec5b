#if TansuServer
import HTTPTypes
import HummingbirdCore
import Tansu
import TansuBSON

/// `/_command/changes`: the changes of all collections or of one as they are committed, by whichever process, a line of extended JSON for
/// each, and lines with the commit that was reached, where `since` goes on; for server admins. Unlike `_changes` it needs no revisions, so that looking changes nothing.
enum CommandChangesEndpoint {
    static let route = Route("/_command/changes", allow: "GET", access: .serverAdmin, [.get: .init(nil, follow)])

    /// Empty lines keep the connection alive, and show that the client has left.
    private static let heartbeat = Duration.seconds(10)
    /// So many changes, or bytes of their documents before the last, are read ahead of the client.
    private static let (batchCount, batchBytes) = (64, 1 << 20)
    /// A longer document is left out, and its size said.
    private static let documentBytes = 16 << 10

    @Sendable private static func follow(_ request: ServerRequest) async throws -> Response {
        var since: Int?
        if let text = request.query["since"] {
            guard let number = Int(text), number >= 0 else {
                throw HTTPFailure.badRequest("`since` must be the number of a commit")
            }
            since = number
        }
        let (name, start, database) = (request.query["collection"], since, request.database)
        let feed = try request.server.feeds.open(for: request.channel)
        let reader: Database.ChangeReader
        do {
            // From a number on it may have to look for the beginning.
            reader = try await database.runReading { _ in
                try Database.ChangeReader(
                    database, since: start, collections: name.map { [$0] }, documents: .after)
            }
        } catch let error as TansuError where error.code == .notFound {
            throw HTTPFailure.notFound(error.message)
        }
        return .streamed { stream in
            var position: Int?
            do {
                while true {
                    let mark = try reader.mark()
                    let batch = try await database.runReading { _ in try read(reader, isOfAll: name == nil) }
                    for line in batch.lines { try await stream.write(line) }
                    // Also of commits that have nothing for this client, so that it can go on there.
                    if batch.isEnd, let reached = batch.position, reached != position {
                        try await stream.write("{\"position\":\(reached)}\n")
                        position = reached
                    }
                    try await stream.flush()
                    if !batch.isEnd { continue }
                    let isOpen = try await feed.waits(heartbeatEvery: heartbeat, timeout: nil) {
                        await reader.wait(after: mark)
                    } heartbeat: {
                        try await stream.write("\n")
                        try await stream.flush()
                    }
                    if !isOpen { return }
                }
            } catch let error as TansuError {
                let failure: BSONDocument = [
                    "error": ["code": .string("\(error.code)"), "message": .string(error.message)]
                ]
                try await stream.write(failure.extendedJSON(.canonical) + "\n")
            }
        }
    }

    /// The lines of what there is to read now, whether that is all, and which commit was reached. Changes of the library's own
    /// collections are left out where all are wanted.
    private static func read(
        _ reader: Database.ChangeReader, isOfAll: Bool
    ) throws -> (lines: [String], isEnd: Bool, position: Int?) {
        var lines: [String] = []
        var bytes = 0
        for _ in 0..<batchCount where bytes < batchBytes {
            guard let change = try reader.next() else { return (lines, true, try reader.position()) }
            if isOfAll, CommandLimits.isOwned(change.collection) { continue }
            bytes += change.after?.bytes.count ?? 0
            lines.append(line(change))
        }
        return (lines, false, nil)
    }

    private static func line(_ change: Database.Change<BSONDocument>) -> String {
        var line: BSONDocument = [
            "sequence": BSONValue(change.sequence), "collection": .string(change.collection),
        ]
        switch change.kind {
        case .insert: line["kind"] = "insert"
        case .update: line["kind"] = "update"
        case .remove: line["kind"] = "remove"
        case .collectionCreated: line["kind"] = "createCollection"
        case .collectionDropped: line["kind"] = "dropCollection"
        case .collectionRenamed(let name):
            line["kind"] = "renameCollection"
            line["to"] = .string(name)
        }
        line["id"] = change.id
        if let document = change.after {
            if document.bytes.count <= documentBytes {
                line["after"] = .document(document)
            } else {
                line["bytes"] = BSONValue(document.bytes.count)
            }
        }
        return line.extendedJSON(.canonical) + "\n"
    }
}
#endif
