#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON

/// `/_db_updates`: which databases change.
enum DatabaseUpdatesEndpoint {
    static let route = Route("/_db_updates", allow: "GET", access: .serverAdmin, [.get: .init(nil, get)])

    @Sendable private static func get(_ request: ServerRequest) async throws -> Response {
        let query = try ChangesQuery(request.query, lastEventID: request[.lastEventID])
        let updates = request.server.updates
        let (instance, last) = try await updates.position()
        let text = SequenceText(instance: instance)
        let start =
            switch query.start {
            case .beginning: Int64(0)
            case .current: last
            case .after(let since): try text.sequence(since)
            }
        let answer = DatabaseUpdatesAnswer(query: query, updates: updates, text: text, start: start)
        guard query.feed == .normal else {
            return answer.response(try request.server.feeds.open(for: request.channel))
        }
        let tag = EntityTag.of(instance, "\(last)")
        if request.hasCurrent(tag) { return Response(status: .notModified, headers: [.eTag: tag]) }
        return answer.response(headers: [.eTag: tag])
    }
}

/// The updates of databases as an answer, which may stay open.
private struct DatabaseUpdatesAnswer: Sendable {
    let query: ChangesQuery
    let updates: DatabaseUpdates
    let text: SequenceText
    let start: Int64

    private var isList: Bool { query.feed == .normal || query.feed == .longpoll }

    /// - Parameter feed: What waits for more; nil for what there is.
    func response(_ feed: Feed? = nil, headers: HTTPFields = [:]) -> Response {
        var fields = HTTPFields.json
        if query.feed == .eventSource {
            fields = [.contentType: "text/event-stream", .cacheControl: "no-cache"]
        }
        return .streamed(headers: fields.merging(headers)) { stream in
            if isList { stream.append("{\"results\":[\n") }
            var position = start
            var count = 0
            repeat {
                let page = try await updates.page(
                    after: position, limit: query.limit - count, isDescending: query.isDescending)
                for row in page.rows { try await write(row, isFirst: count == 0, to: &stream); count += 1 }
                let isLimited = count >= query.limit
                position = isLimited || query.isDescending ? page.rows.last?.sequence ?? position : page.last
                if isLimited || query.isDescending || (query.feed == .longpoll && count > 0) { break }
                try await stream.flush()
            } while try await wait(feed, after: position, &stream)
            switch query.feed {
            case .normal, .longpoll: try await stream.write("\n],\n\"last_seq\":\"\(text(position))\"}\n")
            case .continuous: try await stream.write("{\"last_seq\":\"\(text(position))\"}\n")
            case .eventSource: break
            }
        }
    }

    private func write(_ row: DatabaseUpdates.Row, isFirst: Bool, to stream: inout AnswerStream) async throws {
        let sequence = text(row.sequence)
        let json = BSONDocument([
            ("db_name", .string(row.name)), ("type", .string(row.kind.rawValue)), ("seq", .string(sequence)),
        ]).extendedJSON(.relaxed)
        switch query.feed {
        case .normal, .longpoll: try await stream.write(isFirst ? json : ",\r\n" + json)
        case .continuous: try await stream.write(json + "\n")
        case .eventSource: try await stream.write("data: \(json)\nid: \"\(sequence)\"\n\n")
        }
    }

    /// Waits for the next update; false when the answer ends.
    private func wait(_ feed: Feed?, after sequence: Int64, _ stream: inout AnswerStream) async throws -> Bool {
        guard let feed else { return false }
        return try await feed.waits(heartbeatEvery: query.heartbeat, timeout: query.timeout) { [updates] in
            try await updates.waitForChange(after: sequence)
        } heartbeat: {
            try await stream.write(query.feed == .eventSource ? "event: heartbeat\ndata: \n\n" : "\n")
            try await stream.flush()
        }
    }
}
#endif
