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
                let after = try await server.answer("GET", "/people/_all_docs").text.matches(of: /"rev":"([^"]*)"/).map
                { String($0.1) }
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
