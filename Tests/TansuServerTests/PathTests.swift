#if TansuServer
import TansuBSON
import Testing
@testable import TansuServer

/// Paths, queries and names by CouchDB's rules, and those that try to be something else.
@Suite struct PathTests {
    @Test(arguments: [
        ("/", []), ("//", []), ("", []), ("/db", ["db"]), ("/db/", ["db"]), ("//db///a/", ["db", "a"]),
        ("/db/a%2Fb", ["db", "a/b"]), ("/a+b/c%2Bd", ["a b", "c+d"]),
        ("/%41%c3%bc", ["Aü"]),
        ("/db/_design/x", ["db", "_design", "x"]), ("/db/_design%2Fx/y", ["db", "_design", "x", "y"]),
        ("/db/_local%2fx", ["db", "_local", "x"]), ("/db/_design%2F", ["db", "_design/"]),
        ("/db/_design%2Fa%2Fb", ["db", "_design", "a/b"]), ("/db/a/f/g%2Fh.txt", ["db", "a", "f", "g/h.txt"]),
        ("/../db/./..", ["..", "db", ".", ".."]), ("/db/%2e%2e%2fetc", ["db", "../etc"]),
        ("/db/%00a", ["db", "\0a"]),
        ("/db/a%0D%0AX:%20y", ["db", "a\r\nX: y"]),
    ]) func aPathIsItsDecodedParts(_ path: String, _ parts: [String]) throws {
        #expect(try RequestPath(path).parts == parts)
    }

    @Test(arguments: ["/%FF", "/db/%C3%28", "/%ED%A0%80", "/a%C0%80", "/%ZZ", "/db/%4", "/%"])
    func aPathThatIsNotUTF8IsRefused(_ path: String) {
        #expect(throws: HTTPFailure.self) { try RequestPath(path) }
        #expect(throws: HTTPFailure.self) { try QueryParameters("a=\(path)") }
    }

    @Test func aQueryIsReadAsTypes() throws {
        let query = try QueryParameters("a=1&b=true&c=%22x%22&d=-1&e=x&f&a=2&g=a=b&=&&h=1+2")
        #expect(query["a"] == "1")
        #expect(try query.integer("a") == 1)
        #expect(try query.bool("b") == true)
        #expect(try query.json("c") == "x")
        #expect(try query.integer("d") == -1)
        #expect(query["f"] == "")
        #expect(query["g"] == "a=b")
        #expect(query["h"] == "1 2")
        #expect(try query.bool("z") == nil)
        let failures: [(String, () throws -> Void)] = [
            ("Invalid value for positive integer: \"-1\"", { _ = try query.positiveInteger("d") }),
            ("Invalid value for integer: \"x\"", { _ = try query.integer("e") }),
            ("Invalid boolean parameter: \"x\"", { _ = try query.bool("e") }),
            ("invalid UTF-8 JSON", { _ = try query.json("e") }),
        ]
        for (reason, read) in failures {
            let failure = #expect(throws: HTTPFailure.self) { try read() }
            #expect(failure?.reason == reason)
        }
    }

    @Test func textGoesBeforeParametersAndThoseBeforeTheRest() throws {
        func route(_ pattern: String) -> Route { Route(pattern, allow: pattern, [:]) }
        let tree = RouteTree(
            ["/", "/:db", "/:db/_all_docs", "/:db/:doc", "/:db/:doc/*", "/:db/_design/:doc", "/_node/:node/x"].map(
                route))
        let paths: [(String, String, [BytewiseText: String], [String])] = [
            ("/", "/", [:], []), ("/a", "/:db", ["db": "a"], []),
            ("/a/_all_docs", "/:db/_all_docs", ["db": "a"], []),
            ("/a/b", "/:db/:doc", ["db": "a", "doc": "b"], []),
            ("/a/b/c/d", "/:db/:doc/*", ["db": "a", "doc": "b"], ["c", "d"]),
            ("/a/_design/b", "/:db/_design/:doc", ["db": "a", "doc": "b"], []),
            ("/a/_design/b/c", "/:db/:doc/*", ["db": "a", "doc": "_design"], ["b", "c"]),
            ("/_node/a/x", "/_node/:node/x", ["node": "a"], []),
            ("/_node/a", "/:db/:doc", ["db": "_node", "doc": "a"], []),
        ]
        for (path, pattern, parameters, rest) in paths {
            let match = try #require(tree.match(try RequestPath(path).parts))
            #expect(match.route.pattern == pattern)
            #expect(match.parameters == parameters)
            #expect(match.rest == rest)
        }
    }

    @Test func namesOfDatabasesAreThoseOfCouchDB() throws {
        for name in ["a", "a0_$()+/-", "_users", "_replicator", String(repeating: "a", count: 102)] {
            try DatabaseName.check(name)
        }
        for (name, error) in [
            ("", "illegal_database_name"), ("A", "illegal_database_name"), ("1a", "illegal_database_name"),
            ("_x", "illegal_database_name"), ("a.b", "illegal_database_name"), ("ä", "illegal_database_name"),
            ("tansu.sync", "illegal_database_name"), ("a\n", "illegal_database_name"),
            (String(repeating: "a", count: 103), "database_name_too_long"),
        ] {
            let failure = #expect(throws: HTTPFailure.self) { try DatabaseName.check(name) }
            #expect(failure?.error == error)
        }
    }

    @Test(arguments: [
        "/nowhere%0D%0ASet-Cookie:%20a=b", "/%00", "/..%2f..%2fetc%2fpasswd", "/_node/_local%0d%0aX:y/_versions",
        "/_session?next=/%0d%0aX:%20y", "/test/echo/%0d%0a",
    ]) @available(macOS 14, *)
    func noTextOfARequestBecomesAHeader(_ path: String) async throws {
        try await RunningServer.run(moreRoutes: TestRoutes.all) { server in
            for method in ["GET", "PUT", "DELETE"] {
                let answer = try await server.answer(method, path)
                #expect(
                    answer.headers.allSatisfy {
                        $0.name != "x" && $0.name != "set-cookie" || path.contains("_session")
                    })
                #expect(answer[header: "x"] == nil)
                #expect(answer[header: "location"]?.contains("\r") != true)
            }
        }
    }
}
#endif
