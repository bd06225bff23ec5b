#if TansuServer
import Foundation
import HTTPTypes
import Tansu
import TansuBSON
import TansuSync
import Testing
@testable import TansuServer

@Suite struct CommandEndpointTests {
    private static let json = ["Content-Type": "application/json"]

    @Test("Commands that read are answered by the engine") @available(macOS 14, *)
    func reading() async throws {
        let database = try Database(.memory)
        try await database.collection("people").save([["_id": 1, "age": 5], ["_id": 2, "age": 50]])
        try await RunningServer.run(database) { server in
            let cases = [
                (
                    #"{"op":"find","collection":"people","query":{"age":{"$gt":9}}}"#,
                    #"[{"_id":2,"age":50}], "complete": true}"#
                ),
                (#"{"op":"count","collection":"people"}"#, #""count": 2"#),
                (
                    #"{"op":"aggregate","collection":"people","pipeline":[{"$count":"n"}]}"#,
                    #"[{"n":2}], "complete": true}"#
                ),
                (#"{"op":"explain","collection":"people","query":{"_id":1}}"#, #""kind": "index""#),
                (#"{"op":"indexes","collection":"people"}"#, #""indexes": []"#),
                (#"{"op":"storage"}"#, #""name": "people", "documents": 2"#),
                (#"{"op":"analyze","text":"Two words"}"#, #""terms""#),
                (#"{"op":"get","collection":"people","id":3}"#, #""document": null"#),
                // The engine's errors are answers, as everywhere.
                (#"{"op":"find","collection":"people","query":{"$nonsense":1}}"#, #""ok": false"#),
            ]
            for (command, expected) in cases {
                let answer = try await server.answer("POST", "/_command", Self.json, body: command)
                #expect(answer.status == 200 && answer.text.contains(expected), "\(command): \(answer.text)")
            }
        }
    }

    @Test("The types of numbers can be asked for") @available(macOS 14, *)
    func canonical() async throws {
        let database = try Database(.memory)
        try await database.collection("people").save(["_id": .int64(1), "age": .int32(5), "one": 1.0])
        try await RunningServer.run(database) { server in
            let find = #"{"op":"find","collection":"people","canonical":true}"#
            let answer = try await server.answer("POST", "/_command", Self.json, body: find)
            let expected = #"{"_id":{"$numberLong":"1"},"age":{"$numberInt":"5"},"one":{"$numberDouble":"1.0"}}"#
            #expect(answer.text.contains(expected), "\(answer.text)")
        }
    }

    @Test("What writes, keeps something open or is no command is refused") @available(macOS 14, *)
    func refused() async throws {
        let database = try Database(.memory)
        try await database.collection("people").save(["_id": 1])
        try await RunningServer.run(database) { server in
            let cases = [
                ("{}", 400), ("[]", 400), ("x", 400), (#"{"op":5}"#, 400), (#"{"op":"begin"}"#, 403),
                (#"{"op":"save","collection":"people","documents":[{}]}"#, 403),
                (#"{"op":"backup","to":"/tmp/x"}"#, 403), (#"{"op":"restore","from":"/a","to":"/b"}"#, 403),
                (#"{"op":"transaction","commands":[]}"#, 403),
                (#"{"op":"f\u0069nd\u0000","collection":"people"}"#, 403),
                (#"{"op":"find","collection":"people","batch":1}"#, 400),
                (#"{"op":"find","collection":"people","transaction":1}"#, 400),
                (#"{"op":"aggregate","collection":"people","pipeline":[{"$out":"other"}]}"#, 403),
                (#"{"op":"aggregate","collection":"people","pipeline":[{"$merge":"other"}]}"#, 403),
            ]
            for (command, status) in cases {
                let answer = try await server.answer("POST", "/_command", Self.json, body: command)
                #expect(answer.status == status, "\(command): \(answer.status) \(answer.text)")
            }
            #expect(try await server.answer("GET", "/_command").status == 405)
            let plain = try await server.answer("POST", "/_command", ["Content-Type": "text/plain"], body: "{}")
            #expect(plain.status == 415)
            #expect(try await database.collectionNames() == ["people", "tansu.server"])
        }
    }

    @Test("Only server admins may ask") @available(macOS 14, *)
    func adminsOnly() async throws {
        var options = ServerOptions(port: 0)
        options.admins = ["anna": "secret"]
        try await RunningServer.run(options: options) { (server: RunningServer) async throws in
            let stats = #"{"op":"stats"}"#
            #expect(try await server.answer("POST", "/_command", Self.json, body: stats).status == 401)
            let basic = "Basic " + Data("anna:secret".utf8).base64EncodedString()
            let fields = ["Content-Type": "application/json", "Authorization": basic]
            #expect(try await server.answer("POST", "/_command", fields, body: stats).status == 200)
        }
    }

    @Test("An answer has a bounded number of documents and of bytes") @available(macOS 14, *)
    func bounded() async throws {
        let database = try Database(.memory)
        try await database.collection("small").save((0..<1500).map { ["_id": BSONValue($0)] })
        let text = String(repeating: "x", count: 1 << 20)
        try await database.collection("large").save((0..<20).map { ["_id": BSONValue($0), "text": .string(text)] })
        try await RunningServer.run(database) { server in
            for (name, most) in [("small", 1_000), ("large", 12)] {
                let command = #"{"op":"find","collection":"\#(name)"}"#
                let answer = try await server.answer("POST", "/_command", Self.json, body: command)
                let document = try BSONDocument(extendedJSON: answer.text)
                #expect(document["complete"] == .bool(false))
                let count = document["documents"]?.arrayValue?.count ?? 0
                #expect(count > 0 && count <= most, "\(name): \(count)")
                let ids = (0..<1500).map { "\(1499 - $0)" }.joined(separator: ",")
                let get = #"{"op":"get","collection":"\#(name)","ids":[\#(ids)]}"#
                let some = try BSONDocument(
                    extendedJSON: try await server.answer("POST", "/_command", Self.json, body: get).text)
                let found = some["documents"]?.arrayValue ?? []
                #expect(some["complete"] == .bool(false) && found.count == 1_000)
                #expect(found.first?.documentValue?["_id"] == (name == "small" ? 1_499 : nil))
                let last = #"{"op":"get","collection":"\#(name)","ids":[0,"no",1]}"#
                let few = try BSONDocument(
                    extendedJSON: try await server.answer("POST", "/_command", Self.json, body: last).text)
                #expect(few["complete"] == .bool(true) && few["documents"]?.arrayValue?.count == 3)
                #expect(few["documents"]?.arrayValue?.first?.documentValue?["_id"] == 0)
                #expect(few["documents"]?.arrayValue?.dropFirst().first == .null)
            }
        }
    }

    @Test("What takes long is ended, and no other limit than a shorter one is taken") @available(macOS 14, *)
    func limitOfTime() async throws {
        let database = try Database(.memory)
        try await database.collection("people").save(["_id": 1])
        try await RunningServer.run(database) { server in
            for (limit, isRefused) in [
                ("0", false), ("1000", false), ("1e300", false), (#"{"$numberLong":"9007199254740993"}"#, false),
                (#"{"$numberDecimal":"1E+30"}"#, false), (#""a""#, true), ("-1", true), ("null", true),
                (#"{"$numberDouble":"NaN"}"#, true), ("1.5", true),
            ] {
                let command = #"{"op":"find","collection":"people","hints":{"$maxTimeMS":\#(limit)}}"#
                let text = try await server.answer("POST", "/_command", Self.json, body: command).text
                #expect(text.contains(#""ok": false"#) == isRefused, "\(limit): \(text)")
            }
        }
    }
}

@Suite struct InspectionTests {
    @available(macOS 14, *)
    private struct Client {
        let server: RunningServer
        let token: String
        var secret: String?

        init(_ inspector: Inspector) throws {
            let parts = inspector.url.components(separatedBy: "/_utils/#/open/")
            try #require(parts.count == 2)
            token = parts[1]
            let port = try #require(URL(string: parts[0])?.port)
            let server = TansuServer(database: try Database(.memory))
            self.server = RunningServer(server: server, port: port)
        }

        func answer(_ method: String, _ path: String, _ body: String? = nil, host: String? = nil) async throws -> (
            Int, String
        ) {
            var fields: [String: String] = [:]
            if body != nil { fields["Content-Type"] = "application/json" }
            if let secret { fields["Authorization"] = "Bearer \(secret)" }
            guard let host else {
                let answer = try await server.answer(method, path, fields, body: body)
                return (answer.status, answer.text)
            }
            let more = fields.map { "\($0): \($1)\r\n" }.joined()
            let request =
                "\(method) \(path) HTTP/1.1\r\nHost: \(host)\r\n\(more)Connection: close\r\n"
                + "Content-Length: \(body?.utf8.count ?? 0)\r\n\r\n\(body ?? "")"
            let answers = try await server.answers(to: request, count: 1)
            return (answers.first?.status ?? 0, answers.first?.text ?? "")
        }

        mutating func enter() async throws -> Int {
            let (status, text) = try await answer("POST", "/_session", #"{"token":"\#(token)"}"#)
            secret = try? BSONDocument(extendedJSON: text)["secret"]?.stringValue
            return status
        }
    }

    @Test("The address lets in once, and without its secret nothing is told") @available(macOS 14, *)
    func once() async throws {
        let database = try Database(.memory)
        try await database.collection("people").save(["_id": 1])
        let inspector = try await Inspector.start(database)
        var client = try Client(inspector)
        let stats = #"{"op":"stats"}"#
        #expect(try await client.answer("POST", "/_command", stats).0 == 401)
        #expect(try await client.answer("GET", "/_utils/").0 == 200)
        #expect(try await client.answer("GET", "/_session").1.contains("[]"))
        // Nothing tells which collections there are, and CouchDB's API is not there.
        let nobody = try await client.answer("GET", "/nobody").1
        #expect(try await client.answer("GET", "/people").1 == nobody)
        #expect(try await client.answer("POST", "/_session", #"{"token":"0000"}"#).0 == 401)
        #expect(try await client.enter() == 200)
        #expect(try await client.answer("POST", "/_command", stats).0 == 200)
        #expect(try await client.answer("GET", "/people").0 == 404)
        #expect(try await client.answer("POST", "/_command", stats, host: "tansu.example").0 == 403)
        var other = try Client(inspector)
        #expect(try await other.enter() == 401)
        #expect(try await other.answer("POST", "/_command", stats).0 == 401)
        other.secret = String(client.secret?.dropLast() ?? "")
        #expect(try await other.answer("POST", "/_command", stats).0 == 401)
        let save = #"{"op":"save","collection":"people","documents":[{"_id":2}]}"#
        #expect(try await client.answer("POST", "/_command", save).0 == 403)
        #expect(try await database.collection("people").find().count() == 1)
        // It leaves nothing in the database.
        #expect(try await database.collectionNames() == ["people"])
        await inspector.stop()
        await #expect(throws: (any Error).self) { try await client.answer("GET", "/_session") }
        // It can be started again.
        let again = try await Inspector.start(database)
        #expect(again.url != inspector.url)
        await again.stop()
    }

    @Test("With leave it writes") @available(macOS 14, *)
    func writing() async throws {
        let database = try Database(.memory)
        let inspector = try await Inspector.start(database, allowsWriting: true)
        var client = try Client(inspector)
        #expect(try await client.enter() == 200)
        let save = #"{"op":"save","collection":"people","documents":[{"_id":2}]}"#
        #expect(try await client.answer("POST", "/_command", save).1.contains(#""ok": true"#))
        #expect(try await client.answer("POST", "/_command", #"{"op":"backup","to":"/tmp/x"}"#).0 == 403)
        #expect(try await database.collection("people").find().count() == 1)
        await inspector.stop()
    }

    @Test("What the library and the server keep is written by them alone") @available(macOS 14, *)
    func limits() async throws {
        let database = try Database(.memory)
        try await database.collection("replicated").save(["_id": "a"])
        _ = try await database.collection("replicated").enableReplication()
        let inspector = try await Inspector.start(database, allowsWriting: true)
        var client = try Client(inspector)
        #expect(try await client.enter() == 200)
        for (command, code) in [
            (#"{"op":"save","collection":"tansu.sync","documents":[{"_id":"x"}]}"#, "INVALID_ARGUMENT"),
            (#"{"op":"renameCollection","collection":"people","to":"tansu.x"}"#, "INVALID_ARGUMENT"),
            (#"{"op":"aggregate","collection":"people","pipeline":[{"$out":"tansu.sync"}]}"#, "INVALID_ARGUMENT"),
            (#"{"op":"update","collection":"_users","query":{},"update":{"$set":{"password":"s"}}}"#, "CLEAR_PASSWORD"),
            (#"{"op":"save","collection":"replicated","documents":[{"_id":"b","_x":1}]}"#, "NOT_REPLICABLE"),
            (#"{"op":"save","collection":"replicated","documents":[{"_id":5}]}"#, "NOT_REPLICABLE"),
            (#"{"op":"dropCollection","collection":"replicated"}"#, "REPLICATED"),
            (#"{"op":"renameCollection","collection":"replicated","to":"other"}"#, "REPLICATED"),
            (#"{"op":"createCollection","collection":"replicated","options":{"changeTracking":false}}"#, "REPLICATED"),
        ] {
            let answer = try await client.answer("POST", "/_command", command).1
            #expect(answer.contains("\"\(code)\""), "\(command) \(answer)")
        }
        let user = #"{"_id":"org.couchdb.user:a","name":"a","type":"user","roles":[],"password":"secret"}"#
        let save = #"{"op":"save","collection":"_users","documents":[\#(user)]}"#
        #expect(try await client.answer("POST", "/_command", save).1.contains(#""ok": true"#))
        let account = try #require(try await database.collection("_users").get("org.couchdb.user:a"))
        #expect(account["password"] == nil && account["derived_key"] != nil)
        await inspector.stop()
    }

    @Test("Words and changes of any collection are there, for whoever has the address") @available(macOS 14, *)
    func wordsAndChanges() async throws {
        let database = try Database(.memory)
        try await database.collection("people").save(["_id": .int64(1), "text": "dark coffee"])
        let inspector = try await Inspector.start(database)
        var client = try Client(inspector)
        let search = #"{"search":"coffee","keys":true}"#
        for name in ["people", "nobody"] {
            #expect(try await client.answer("POST", "/\(name)/_words", search).0 == 401)
        }
        #expect(try await client.answer("GET", "/_command/changes").0 == 401)
        #expect(try await client.enter() == 200)
        #expect(try await client.answer("GET", "/people/_words").1 == "{\"index\":null}\n")
        #expect(try await client.answer("PUT", "/people/_words", #"{"keys":{"text":"text"}}"#).0 == 403)
        try await database.collection("people").ensureTextIndex("words", onPaths: ["text"])
        let found = try await client.answer("POST", "/people/_words", search).1
        #expect(found.contains(#""key":"{\"$numberLong\":\"1\"}"}"#), "\(found)")
        // As everywhere, a collection that does not exist is empty.
        #expect(try await client.answer("POST", "/nobody/_words", search).1.contains(#""hits":[]"#))
        // An open feed does not keep the inspector from ending.
        let entered = client
        let feed = Task { try await entered.answer("GET", "/_command/changes?since=0").0 }
        try await Task.sleep(for: .milliseconds(50))
        await inspector.stop()
        _ = await feed.result
        let writing = try await Inspector.start(database, allowsWriting: true)
        client = try Client(writing)
        #expect(try await client.enter() == 200)
        #expect(try await client.answer("PUT", "/others/_words", #"{"keys":{"text":"text"}}"#).0 == 200)
        #expect(try await client.answer("PUT", "/tansu.sync/_words", #"{"keys":{"text":"text"}}"#).0 == 403)
        await writing.stop()
    }

    @Test("A port that is taken is an error") @available(macOS 14, *)
    func taken() async throws {
        let database = try Database(.memory)
        let inspector = try await Inspector.start(database)
        let port = try #require(URL(string: inspector.url)?.port)
        let error = await #expect(throws: ServerError.self) { try await Inspector.start(database, port: port) }
        #expect(error?.code == .cannotListen)
        await inspector.stop()
    }
}
#endif
