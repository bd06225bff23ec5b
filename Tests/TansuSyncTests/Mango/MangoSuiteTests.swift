#if TansuSync
import TansuBSON
import Testing

@testable import TansuSync

@Suite("Mango: the suites of CouchDB and PouchDB, as CouchDB answered them")
struct MangoSuiteTests {
    @Test("_find answers what CouchDB answered", arguments: ["mango-suite", "pouchdb-find-suite"])
    func find(suite: String) throws {
        var count = 0
        // The recorded names of bookmarks, and the library's bookmarks.
        var bookmarks = ["nil": "nil"]
        for each in try MangoSuite("\(suite).json.gz").cases where each.endpoint == "_find" {
            guard var body = each.body.documentValue, !needsServer(each, body) else { continue }
            count += 1
            if let name = body["bookmark"]?.stringValue, let bookmark = bookmarks[name] {
                body["bookmark"] = .string(bookmark)
            }
            try check(each, body, &bookmarks)
        }
        #expect(count == (suite == "mango-suite" ? 116 : 180))
    }

    private func needsServer(_ each: MangoSuite.Case, _ body: BSONDocument) -> Bool {
        // Conflicting revisions, index builds that were put off, documents by the thousand, the users' database.
        return body["conflicts"] == true || body["update"] == false || each.set["generate"] != nil
            || each.set["push"] != nil
            || each.set["db"] != nil
    }

    private func check(
        _ each: MangoSuite.Case, _ body: BSONDocument, _ bookmarks: inout [String: String]
    ) throws {
        let name = "\(each.number) \(each.test): \(body.extendedJSON())"
        do throws(Mango.QueryError) {
            let answer = try answer(each, body)
            // Faults of CouchDB.
            guard each.status != 500 else { return }
            #expect(each.status == 200, "\(name)")
            let found = answer.documents.map { JSONText($0, without: "_rev") }
            let expected = each.expectedDocuments.map { JSONText($0, without: "_rev") }
            #expect(found == expected, "\(name)")
            #expect(answer.warning == each.answer["warning"]?.stringValue, "\(name)")
            if let recorded = each.answer["bookmark"]?.stringValue {
                #expect((answer.bookmark == "nil") == (recorded == "nil"), "\(name)")
                bookmarks[recorded] = answer.bookmark
            }
            if let statistics = each.answer["execution_stats"]?.documentValue {
                #expect(answer.keysExamined == statistics["total_keys_examined"]?.intValue, "\(name)")
                #expect(answer.documentsExamined == statistics["total_docs_examined"]?.intValue, "\(name)")
            }
        } catch {
            #expect(error.status == each.status, "\(name): \(error)")
            #expect(error.name == each.answer["error"]?.stringValue, "\(name)")
            // Another library made the text that CouchDB shows here.
            if error.name != "invalid_bookmark" {
                #expect(error.reason == each.answer["reason"]?.stringValue, "\(name)")
            }
        }
    }

    private func answer(_ each: MangoSuite.Case, _ body: BSONDocument) throws(Mango.QueryError) -> Mango.Answer {
        let query = try Mango.Query(partitioned(body, each))
        // The design documents of the indexes are documents as well.
        let designs = Set(each.createdIndexes.map(\.designDocument)).map { BSONDocument([("_id", .string($0))]) }
        return try query.answer(each.documents + designs, indexes: try indexes(each))
    }

    private func partitioned(_ body: BSONDocument, _ each: MangoSuite.Case) -> BSONDocument {
        let parts = each.path.split(separator: "/").map { String($0) }
        guard parts.first == "_partition" else { return body }
        var body = body
        body["partition"] = .string(parts[1])
        return body
    }

    private func indexes(_ each: MangoSuite.Case) throws(Mango.QueryError) -> [Mango.Index] {
        let isPartitioned = each.set["partitioned"] == true
        var indexes: [Mango.Index] = []
        for (design, name, request) in each.createdIndexes {
            indexes.append(
                try Mango.Index(
                    designDocument: design, name: name, definition: request["index"]?.documentValue ?? [:],
                    isPartitioned: request["partitioned"]?.boolValue ?? isPartitioned))
        }
        for document in each.documents {
            indexes += Mango.Index.indexes(of: document, isPartitioned: isPartitioned)
        }
        return indexes
    }

    @Test("_explain shows the plan that CouchDB showed", arguments: ["mango-suite", "pouchdb-find-suite"])
    func explain(suite: String) throws {
        var count = 0
        for each in try MangoSuite("\(suite).json.gz").cases where each.endpoint == "_explain" && each.status == 200 {
            guard let body = each.body.documentValue else { continue }
            count += 1
            let query = try Mango.Query(partitioned(body, each))
            let plan = try Mango.Plan(query, indexes: try indexes(each))
            let explanation = plan.explanation(
                database: "db", isPartitioned: each.set["partitioned"] == true)
            // The recorder took the direction of a field "_rev" for a revision.
            let shown = JSONText(explanation, replacing: #"{"_rev":"asc"}"#, with: #"{"_rev":"<rev>"}"#)
            #expect(shown == JSONText(each.answer), "\(each.number) \(each.test)")
        }
        #expect(count == (suite == "mango-suite" ? 42 : 1))
    }
}

/// The JSON text of a document, in which numbers of all types are alike.
struct JSONText: Equatable, CustomStringConvertible {
    let description: String

    init(_ document: BSONDocument, without key: String? = nil) {
        var document = document
        if let key { document[key] = nil }
        description = document.extendedJSON()
    }

    init(_ document: BSONDocument, replacing text: String, with other: String) {
        description = document.extendedJSON().replacing(text, with: other)
    }
}
#endif
