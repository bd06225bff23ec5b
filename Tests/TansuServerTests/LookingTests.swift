#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer
@testable import TansuSync

/// Looking at a collection writes nothing, and what was replaced meanwhile is served as it is.
@Suite struct LookingTests {
    private static let json = ["Content-Type": "application/json"]

    @Test("A collection that is not replicated is read as if it were, and nothing is stored")
    @available(macOS 14, *)
    func looking() async throws {
        let database = try Database(.memory)
        let people = try database.collection("people")
        for number in 0..<700 {
            try await people.save(["_id": .string("p\(1_000 + number)"), "n": .int32(Int32(number))])
        }
        try await database.collection("ids").save(["name": "ann"])
        try await RunningServer.run(database) { server in
            let before = try await database.collectionNames()
            var revisions: [String] = []
            for path in [
                "/_all_dbs", "/_dbs_info", "/people", "/people/_all_docs",
                "/people/_all_docs?include_docs=true&conflicts=true",
                "/people/_all_docs?startkey=%22p1500%22&limit=10", "/people/_all_docs?descending=true&skip=5",
                "/people/p1003",
                "/people/p1003?revs_info=true&conflicts=true", "/people/_index", "/people/_design_docs",
                "/people/_local_docs",
                "/people/_security", "/ids", "/ids/_all_docs?include_docs=true",
            ] {
                let answer = try await server.answer("GET", path)
                #expect(answer.status == 200, "\(path) \(answer.text.prefix(200))")
                if path == "/people/_all_docs" {
                    revisions = answer.text.matches(of: /"rev":"([^"]*)"/).map { String($0.1) }
                    #expect(revisions.count == 700 && answer.text.contains("\"total_rows\":700"))
                }
            }
            let found = try await server.answer(
                "POST", "/people/_find", Self.json, body: #"{"selector":{"n":{"$gt":690}}}"#)
            #expect(found.text.matches(of: /"_id"/).count == 9)
            #expect(try await server.answer("GET", "/people/absent").status == 404)
            #expect(try await server.answer("HEAD", "/people").status == 200)
            #expect(try await database.collectionNames() == before)
            // Then it becomes one, and the revisions are those that were shown.
            let rev = revisions[3]
            #expect(try await server.answer("PUT", "/people/p1003?rev=\(rev)", Self.json, body: "{}").status == 201)
            #expect(try await database.collectionNames() != before)
            let after = try await server.answer("GET", "/people/_all_docs").text.matches(of: /"rev":"([^"]*)"/).map {
                String($0.1)
            }
            #expect(zip(after, revisions).filter { $0 != $1 }.count == 1)
            #expect(try await server.answer("GET", "/people/_changes").text.matches(of: /"id":/).count == 700)
            #expect(try await server.answer("DELETE", "/ids").status == 200)
            #expect(try await !database.collectionNames().contains("ids"))
        }
    }

    @Test("Documents with numbers as ids can be looked at, page by page")
    @available(macOS 14, *)
    func numbers() async throws {
        let database = try Database(.memory)
        let numbers = try database.collection("numbers")
        for number in 0..<600 {
            try await numbers.save(["_id": .int32(Int32(number)), "n": .int32(Int32(number))])
        }
        try await numbers.save(["_id": "text"])
        try await RunningServer.run(database) { server in
            let all = try await server.answer("GET", "/numbers/_all_docs?include_docs=true")
            let ids = all.text.matches(of: /"id":"([^"]*)"/).map { String($0.1) }
            #expect(ids == (0..<600).map { "\($0)" } + ["text"])
            let page = try await server.answer("GET", "/numbers/_all_docs?startkey=%22598%22")
            #expect(page.text.matches(of: /"id":"([^"]*)"/).map { String($0.1) } == ["598", "599", "text"])
            #expect(try await server.answer("GET", "/numbers/17").text.contains("\"n\":17"))
            #expect(try await server.answer("GET", "/numbers/text").status == 200)
            #expect(try await server.answer("GET", "/numbers/700").status == 404)
            let found = try await server.answer("POST", "/numbers/_find", Self.json, body: #"{"selector":{"n":5}}"#)
            #expect(found.text.contains("\"_id\":\"5\""))
            // It cannot be replicated, which a write says.
            let put = try await server.answer("PUT", "/numbers/new", Self.json, body: "{}")
            #expect(put.status == 400 && put.text.contains("not_replicable"))
        }
    }

    @Test("Ids of every type have a name of their own, by which the document is read and the list goes on")
    @available(macOS 14, *)
    func otherIDs() async throws {
        let database = try Database(.memory)
        let mixed = try database.collection("mixed")
        let objectID = try #require(ObjectID("507f1f77bcf86cd799439011"))
        // In the order of the collection. A text with the characters of another id's name gets it.
        let ids: [(name: String, id: BSONValue)] = [
            (#"{"$minKey":1}"#, .minKey), (#"{"$numberDouble":"NaN"}"#, .double(.nan)), (" 1.5", 1.5), ("2", 2),
            ("1.5", "1.5"), (objectID.description, .string(objectID.description)), ("true", "true"),
            (#"{"a":1}"#, ["a": 1]), (#"{"$binary":{"base64":"AA==","subType":"00"}}"#, .binary(BSONBinary([0]))),
            (#"{"$oid":"507f1f77bcf86cd799439011"}"#, .objectID(objectID)), ("false", false), (" true", true),
            (#"{"$date":"1970-01-01T00:00:00Z"}"#, .date(0)),
            (#"{"$timestamp":{"t":1,"i":2}}"#, .timestamp(BSONTimestamp(seconds: 1, increment: 2))),
            (#"{"$code":"x"}"#, .code("x")), (#"{"$maxKey":1}"#, .maxKey),
        ]
        for (name, id) in ids { try await mixed.save(["_id": id, "name": .string(name)]) }
        try await RunningServer.run(database) { server in
            let names = ids.map(\.name)
            func rows(_ query: String) async throws -> [String] {
                let answer = try await server.answer("GET", "/mixed/_all_docs?\(query)")
                guard case .document(let body) = try BSONValue(plainJSON: answer.text) else { return [] }
                return body["rows"]?.arrayValue?.compactMap { $0["id"]?.stringValue } ?? []
            }
            #expect(try await rows("") == names)
            #expect(try await rows("descending=true") == names.reversed())
            for (index, name) in names.enumerated() {
                let text = URLText.encoded(name)
                let answer = try await server.answer("GET", "/mixed/\(text)")
                guard case .document(let body) = try BSONValue(plainJSON: answer.text) else { continue }
                #expect(body["_id"]?.stringValue == name && body["name"]?.stringValue == name, "\(answer.text)")
                // As the next page of a list begins.
                let key = URLText.encoded(BSONValue.string(name).wireJSON)
                #expect(try await rows("startkey=\(key)") == Array(names[index...]), "\(name)")
                #expect(try await rows("endkey=\(key)&descending=false") == Array(names[...index]), "\(name)")
                let page = try await server.answer("GET", "/mixed/_all_docs?startkey=\(key)&limit=1")
                #expect(page.text.contains("\"offset\":\(index),"), "\(page.text)")
            }
            let found = try await server.answer(
                "POST", "/mixed/_find", Self.json, body: #"{"selector":{"_id":{"$gt":"{\"a\""}},"fields":["_id"]}"#)
            #expect(found.text.contains(#"{"_id":"{\"a\":1}"}"#), "\(found.text)")
        }
    }

    @Test(
        "A document whose id cannot be replicated stays out of a replicated collection, and the others are served")
    @available(macOS 14, *)
    func unusableIDs() async throws {
        let database = try Database(.memory)
        try await RunningServer.run(database) { server in
            #expect(try await server.answer("PUT", "/q", Self.json).status == 201)
            #expect(try await server.answer("PUT", "/q/a", Self.json, body: #"{"n":1}"#).status == 201)
            let documents = try database.collection("q")
            for id: BSONValue in ["_bad", "", "_design/x", 7, ["a": 1]] {
                try await documents.save(["_id": id, "n": 1])
            }
            try await documents.save(["_id": "b", "n": 1])
            for designs in 0..<2 {  // each round makes an index, whose design document is the third
                for path in ["/q/_all_docs", "/q/_changes"] {
                    let answer = try await server.answer("GET", path)
                    let ids = answer.text.matches(of: /"id":"([^"]*)"/).map { String($0.1) }
                    let others = ids.filter { !$0.hasPrefix("_design/") }
                    #expect(answer.status == 200 && others == ["a", "b"], "\(answer.text)")
                    #expect(ids.count == 2 + designs)
                }
                let found = try await server.answer(
                    "POST", "/q/_find", Self.json, body: #"{"selector":{"n":1},"fields":["_id"]}"#)
                let ids = found.text.matches(of: /"_id":"([^"]*)"/).map { String($0.1) }
                #expect(ids == ["a", "b"], "\(found.text)")
                #expect(try await server.answer("GET", "/q").text.contains("\"doc_count\":\(2 + designs)"))
                let index = #"{"index":{"fields":["n"]}}"#
                #expect(try await server.answer("POST", "/q/_index", Self.json, body: index).status == 200)
            }
            #expect(try await server.answer("PUT", "/q/c", Self.json, body: "{}").status == 201)
            #expect(try await documents.count() == 8)
        }
    }

    @Test("A collection that was replaced while the server was stopped is served at once")
    @available(macOS 14, *)
    func replaced() async throws {
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("tansu-replaced-\(UUID())").path
        defer { try? FileManager.default.removeItem(atPath: folder) }
        for round in 0..<3 {
            let database = try Database(path: folder)
            if round > 0 {
                try await database.dropCollection("people")
                try await database.collection("people").save(["_id": "a", "round": .int32(Int32(round))])
            }
            try await RunningServer.run(database) { server in
                if round == 0 {
                    #expect(try await server.answer("PUT", "/people").status == 201)
                    #expect(
                        try await server.answer("PUT", "/people/a", Self.json, body: #"{"round":0}"#).status == 201)
                }
                let answer = try await server.answer("GET", "/people/a")
                #expect(answer.status == 200 && answer.text.contains("\"round\":\(round)"), "\(answer.text)")
                #expect(try await server.answer("PUT", "/people/b\(round)", Self.json, body: "{}").status == 201)
                #expect(try await server.answer("GET", "/people").text.contains("\"doc_count\":2"))
            }
            try await database.close()
        }
    }
}
#endif
