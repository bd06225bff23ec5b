#if TansuServer
import HTTPTypes
import HummingbirdCore
import TansuBSON
import TansuSync

/// `/{db}/_revs_diff` and `/{db}/_missing_revs`: which of a list of revisions the database does not have.
enum RevisionsDifferenceEndpoint {
    static let routes = [
        Route("/:db/_revs_diff", allow: "POST", [.post: .init(difference)]),
        Route("/:db/_missing_revs", allow: "POST", [.post: .init(missingRevisions)]),
    ]

    /// More leaves than this are not named, of a document with many conflicts.
    private static let maximumAncestors = 100

    private struct Missing: Sendable {
        var id: String
        var revisions: [String]
        var possibleAncestors: [String]
    }

    private static func difference(_ request: ServerRequest) async throws -> Response {
        let missing = try await find(request)
        var writer = WireJSONWriter()
        writer.raw("{")
        writer.list(missing) { writer, each in
            writer.string(each.id)
            writer.raw(":{\"missing\":[")
            writer.list(each.revisions) { $0.string($1) }
            writer.raw("]")
            if !each.possibleAncestors.isEmpty {
                writer.raw(",\"possible_ancestors\":[")
                writer.list(each.possibleAncestors) { $0.string($1) }
                writer.raw("]")
            }
            writer.raw("}")
        }
        writer.raw("}")
        return .json(bytes: writer.finish())
    }

    private static func missingRevisions(_ request: ServerRequest) async throws -> Response {
        let missing = try await find(request)
        var writer = WireJSONWriter()
        writer.raw("{\"missing_revs\":{")
        writer.list(missing) { writer, each in
            writer.string(each.id)
            writer.raw(":[")
            writer.list(each.revisions) { $0.string($1) }
            writer.raw("]")
        }
        writer.raw("}}")
        return .json(bytes: writer.finish())
    }

    private static func find(_ request: ServerRequest) async throws -> [Missing] {
        try request.requireJSONContentType()
        var wanted: [(id: String, revisions: [WireRevision])] = []
        for (id, value) in try await request.jsonMembers() {
            wanted.append((id, try WireRevision.list(value)))
        }
        let questions = wanted
        return try await request.collection().read { store in
            try questions.compactMap { try missing($0.id, $0.revisions, in: store) }
        }
    }

    /// What is missing of one document; nil when nothing is.
    private static func missing(
        _ id: String, _ revisions: [WireRevision], in store: RevisionStore
    ) throws -> Missing? {
        let known = revisions.compactMap(\.revision)
        let found = try store.missingRevisions(id, known, possibleAncestors: maximumAncestors)
        let missing = Set(found.missing)
        // A revision that no document can have is missing as well.
        let names = revisions.filter { $0.revision.map(missing.contains) ?? true }
        guard !names.isEmpty else { return nil }
        var seen: Set<WireRevision> = []
        let sorted = names.filter { seen.insert($0).inserted }.sorted { a, b in
            guard let x = a.revision, let y = b.revision else { return a.text < b.text }
            return x < y
        }
        return Missing(
            id: id, revisions: sorted.map(\.text),
            possibleAncestors: found.possibleAncestors.sorted(by: >).map(\.description))
    }
}
#endif
