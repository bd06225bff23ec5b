#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer

/// `_words`: searches, completions and suggestions, which CouchDB has not.
@Suite struct WordsEndpointTests {
    private static let json = ["Content-Type": "application/json"]

    @available(macOS 14, *)
    private static func ask(_ server: RunningServer, _ body: String) async throws -> HTTPAnswer {
        try await server.answer("POST", "/texts/_words", json, body: body)
    }

    /// An answer without its time.
    private static func timeless(_ answer: HTTPAnswer) -> String {
        answer.text.replacing(/,"time_ms":[0-9.e-]+/, with: "")
    }

    @Test("Creates an index, and answers searches, completions and suggestions") @available(macOS 14, *)
    func normal() async throws {
        let database = try Database(.memory)
        try await RunningServer.run(database) { (server: RunningServer) async throws in
            #expect(try await server.answer("PUT", "/texts").status == 201)
            let documents = #"""
                {"docs":[{"_id":"a","title":"Dark roast","body":["A dark <b>roasted</b> coffee","and \"more\""]},
                {"_id":"b","title":"Green tea","body":"Leaves"},{"_id":"c","title":"東京","body":{"title":"dark"}}]}
                """#
            #expect(try await server.answer("POST", "/texts/_bulk_docs", Self.json, body: documents).status == 201)
            #expect(try await server.answer("GET", "/texts/_words").text == "{\"index\":null}\n")
            let without = try await Self.ask(server, #"{"search":"dark"}"#)
            #expect(without.status == 400 && without.text.contains("invalid_search"), "\(without.text)")
            let index = #"{"keys":{"title":"text","body":"text"},"weights":{"title":3}}"#
            let created = try await server.answer("PUT", "/texts/_words", Self.json, body: index)
            #expect(created.status == 200 && created.text == "{\"ok\":true,\"name\":\"words\"}\n", "\(created.text)")
            #expect(try await server.answer("PUT", "/texts/_words", Self.json, body: index).status == 200)
            let described = try await server.answer("GET", "/texts/_words").text
            #expect(
                described.contains(
                    #"{"index":{"name":"words","weights":{"title":3,"body":1},"language":"none","entries":"#))

            let found = Self.timeless(try await Self.ask(server, #"{"search":"dark roasted -tea"}"#))
            let hit = #"{"hits":[{"id":"a","score":"#
            #expect(found.contains(hit) && found.contains(#""more":false"#), "\(found)")
            #expect(
                found.contains(
                    #"{"path":"title","parts":[{"text":"Dark","found":true},{"text":" roast","found":false}]}"#))
            #expect(found.contains(#"{"text":"roasted","found":true}"#) && !found.contains(#""id":"c""#))
            let second = #"{"search":{"any":["dark","tea"]},"limit":1,"skip":1}"#
            let page = Self.timeless(try await Self.ask(server, second))
            #expect(page.contains(#""more":false"#) && page.components(separatedBy: "\"id\"").count == 2, "\(page)")
            let words = Self.timeless(try await Self.ask(server, #"{"complete":"green te"}"#))
            #expect(words == "{\"completions\":[{\"text\":\"green tea\",\"word\":\"tea\",\"documents\":1}]}\n")
            let tokyo = Self.timeless(try await Self.ask(server, #"{"search":"東京"}"#))
            #expect(tokyo.contains(#""id":"c""#))
            let meant = Self.timeless(try await Self.ask(server, #"{"suggest":"drak tea"}"#))
            #expect(meant == "{\"text\":\"Dark tea\",\"differs\":true}\n")
            // Ids are those of the other requests.
            let id = try #require(ObjectID("5f0a1b2c3d4e5f6071829304"))
            try await database.collection("app").save(["_id": .objectID(id), "title": "tea"])
            let app = try await server.answer("PUT", "/app/_words", Self.json, body: #"{"keys":{"**":"text"}}"#)
            #expect(app.status == 200)
            let tea = try await server.answer("POST", "/app/_words", Self.json, body: #"{"search":"tea"}"#)
            #expect(tea.text.contains(#""id":"5f0a1b2c3d4e5f6071829304""#), "\(tea.text)")
            #expect(tea.text.contains(#""path":"title""#))
        }
    }

    @Test("Refuses what it cannot answer, with the reason") @available(macOS 14, *)
    func refused() async throws {
        try await RunningServer.run { server in
            #expect(try await server.answer("PUT", "/texts").status == 201)
            for keys in [#"{}"#, #"{"keys":{}}"#, #"{"keys":{"a":1}}"#, #"{"keys":{"a":"text","a..b":"text"}}"#] {
                let answer = try await server.answer("PUT", "/texts/_words", Self.json, body: keys)
                #expect(answer.status == 400, "\(keys): \(answer.text)")
            }
            let language = #"{"keys":{"**":"text"},"language":"nonsense"}"#
            let refused = try await server.answer("PUT", "/texts/_words", Self.json, body: language)
            #expect(refused.status == 400 && ["nonsense", "libstemmer"].contains { refused.text.contains($0) })
            let all = #"{"keys":{"**":"text"}}"#
            #expect(try await server.answer("PUT", "/texts/_words", Self.json, body: all).status == 200)
            let questions = [
                "{}", "[]", "x", #"{"search":5}"#, #"{"complete":null}"#, #"{"search":"a","limit":0}"#,
                #"{"search":"a","limit":"5"}"#, #"{"search":"a","skip":-1}"#, #"{"complete":"a","limit":51}"#,
                #"{"search":{"$nonsense":1}}"#,
            ]
            for question in questions {
                #expect(try await Self.ask(server, question).status == 400, "\(question)")
            }
            #expect(try await server.answer("POST", "/texts/_words", body: #"{"search":"a"}"#).status == 415)
            #expect(try await server.answer("GET", "/none/_words").status == 404)
            #expect(try await server.answer("POST", "/none/_words", Self.json, body: #"{"search":"a"}"#).status == 404)
            #expect(try await server.answer("DELETE", "/texts/_words").status == 405)
        }
    }
}
#endif
