#if TansuServer
import Foundation
import Tansu
import Testing
@testable import TansuServer

@Suite struct InspectorTests {
    @Test @available(macOS 14, *) func thePageAndItsFilesAreServed() async throws {
        try await RunningServer.run { server in
            let types = [
                "": "text/html; charset=utf-8", "index.html": "text/html; charset=utf-8",
                "style.css": "text/css; charset=utf-8", "app.js": "text/javascript; charset=utf-8",
                "icon.svg": "image/svg+xml",
            ]
            for (name, type) in types {
                let answer = try await server.answer("GET", "/_utils/\(name)")
                #expect(answer.status == 200)
                #expect(answer[header: "content-type"] == type)
                #expect(!answer.body.isEmpty)
            }
            #expect(
                try await server.answer("GET", "/_utils/").text == server.answer("GET", "/_utils/index.html").text)
            let redirect = try await server.answer("GET", "/_utils")
            #expect(redirect.status == 301)
            #expect(redirect[header: "location"] == "_utils/")
        }
    }

    @Test func everythingThatTheFilesNameIsThere() throws {
        let page = try #require(InspectorFile.all["index.html"]).text
        let scripts = InspectorFile.all.values.filter { $0.kind == .script }
        var named: Set<String> = ["index.html"]
        for found in page.matches(of: /(?:src|href)="([^"#][^"]*)"/) { named.insert(String(found.1)) }
        for script in scripts {
            for found in script.text.matches(of: /from '\.\/([^']+)'/) { named.insert(String(found.1)) }
        }
        // Neither one too few nor one that nobody uses.
        #expect(named == Set(InspectorFile.all.keys.map(\.text)))
    }

    @Test func nothingComesFromElsewhereAndNoTextBecomesMarkup() throws {
        for file in InspectorFile.all.values {
            let text = file.text.replacing("http://www.w3.org/2000/svg", with: "").replacing(
                "https://host/people", with: "")
            #expect(!text.contains("://"), "\(file.name)")
            for risk in ["innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "Function("] {
                #expect(!text.contains(risk), "\(file.name)")
            }
        }
        let page = try #require(InspectorFile.all["index.html"]).text
        #expect(!page.contains("<style") && !page.contains(" style=") && !page.contains("onload"))
        #expect(page.matches(of: /<script/).count == page.matches(of: /<script type="module" src=/).count)
    }

    @Test @available(macOS 14, *) func theFilesSayWhatBrowsersMayDoWithThem() async throws {
        try await RunningServer.run { server in
            for name in ["", "app.js", "style.css", "icon.svg"] {
                let answer = try await server.answer("GET", "/_utils/\(name)")
                let policy = try #require(answer[header: "content-security-policy"]).components(separatedBy: "; ")
                #expect(
                    policy == [
                        "default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'",
                        "img-src 'self' data:", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'",
                    ])
                #expect(answer[header: "x-content-type-options"] == "nosniff")
                #expect(answer[header: "x-frame-options"] == "DENY")
                #expect(answer[header: "referrer-policy"] == "no-referrer")
                #expect(answer[header: "cross-origin-opener-policy"] == "same-origin")
                #expect(answer[header: "cross-origin-resource-policy"] == "same-origin")
            }
        }
    }

    @Test @available(macOS 14, *) func whatABrowserHasIsNotSentAgain() async throws {
        try await RunningServer.run { server in
            let answer = try await server.answer("GET", "/_utils/app.js")
            let tag = try #require(answer[header: "etag"])
            #expect(answer[header: "cache-control"] == "no-cache")
            #expect(tag.hasPrefix("\"") && tag.hasSuffix("\""))
            let again = try await server.answer("GET", "/_utils/app.js", ["If-None-Match": "\"x\", \(tag)"])
            #expect(again.status == 304)
            #expect(again.body.isEmpty)
            #expect(again[header: "etag"] == tag)
            #expect(again[header: "content-security-policy"] != nil)
            #expect(try await server.answer("GET", "/_utils/api.js", ["If-None-Match": tag]).status == 200)
        }
    }

    @Test @available(macOS 14, *) func itCanBeReadOnly() async throws {
        try await RunningServer.run { server in
            for path in ["/_utils/", "/_utils/app.js"] {
                let whole = try await server.answer("GET", path)
                let head = try await server.answer("HEAD", path)
                #expect(head.status == 200)
                #expect(head.body.isEmpty)
                for name in ["content-length", "content-type", "etag", "content-security-policy"] {
                    #expect(head[header: name] != nil)
                    #expect(head[header: name] == whole[header: name])
                }
                for method in ["POST", "PUT", "DELETE"] {
                    let answer = try await server.answer(method, path, body: "")
                    #expect(answer.status == 405)
                    #expect(answer[header: "allow"] == "GET,HEAD")
                }
            }
        }
    }

    @Test @available(macOS 14, *) func nothingElseIsThere() async throws {
        try await RunningServer.run { server in
            for path in [
                "/_utils/none", "/_utils/App.js", "/_utils/app.js/x", "/_utils/x/app.js", "/_utils/..%2Fapp.js",
                "/_utils/../../etc/passwd", "/_utils/%2e%2e/%2e%2e/etc/passwd", "/_utils/..%2f..%2fetc%2fpasswd",
                "/_utils/app.js%00", "/_utils/%2Fetc%2Fpasswd", "/_utils/.%2Fapp.js",
            ] {
                let answer = try await server.answer("GET", path)
                #expect(answer.status == 404, "\(path)")
                #expect(answer[header: "content-type"] == "application/json")
            }
        }
    }

    @Test @available(macOS 14, *) func itCanBeSwitchedOff() async throws {
        for admins in [[:], ["admin": "secret"]] {
            var options = ServerOptions(port: 0)
            options.hasInspector = false
            options.admins = admins
            try await RunningServer.run(options: options) { server in
                for path in ["/_utils", "/_utils/", "/_utils/app.js"] {
                    for method in ["GET", "HEAD"] {
                        let answer = try await server.answer(method, path)
                        #expect(answer.status == 404)
                    }
                }
            }
        }
    }

    @Test @available(macOS 14, *) func itNeedsNoLoginAndShowsNoDataWithoutOne() async throws {
        var options = ServerOptions(port: 0)
        options.admins = ["admin": "secret"]
        try await RunningServer.run(options: options) { server in
            for (path, status) in [("/_utils/", 200), ("/_utils/app.js", 200), ("/_all_dbs", 401)] {
                let answer = try await server.answer("GET", path)
                #expect(answer.status == status)
            }
        }
    }

    @Test @available(macOS 14, *) func otherNamesOfThisMachineAreRefusedWithoutUsers() async throws {
        try await RunningServer.run { server in
            for (host, status) in [("evil.example", 403), ("127.0.0.1", 200), ("[::1]:5984", 200)] {
                let request = "GET /_utils/ HTTP/1.1\r\nHost: \(host)\r\nConnection: close\r\n\r\n"
                let answers = try await server.answers(to: request)
                #expect(answers.map(\.status) == [status])
            }
        }
    }

    @Test @available(macOS 14, *) func attachedPagesDoNotRunInTheNameOfTheServer() async throws {
        try await RunningServer.run { server in
            #expect(try await server.answer("PUT", "/db1").status == 201)
            let html = ["Content-Type": "text/html"]
            #expect(
                try await server.answer("PUT", "/db1/a/page.html", html, body: "<script>1</script>").status == 201)
            let answer = try await server.answer("GET", "/db1/a/page.html")
            #expect(answer[header: "content-type"] == "text/html")
            #expect(answer[header: "content-security-policy"] == "sandbox")
            #expect(answer[header: "x-content-type-options"] == "nosniff")
        }
    }

    @Test @available(macOS 14, *) func aReplicationIsCancelledByItsId() async throws {
        try await RunningServer.run { server in
            let json = ["Content-Type": "application/json"]
            for name in ["db1", "db2"] { #expect(try await server.answer("PUT", "/\(name)").status == 201) }
            for name in ["replication_id", "_local_id", "id"] {
                let started = try await server.answer(
                    "POST", "/_replicate", json, body: #"{"source":"db1","target":"db2","continuous":true}"#)
                #expect(started.status == 202)
                let id = try #require(started.text.firstMatch(of: /"_local_id":"([^"]+)"/)).1
                let cancel = #"{"cancel":true,"\#(name)":"\#(id)"}"#
                #expect(try await server.answer("POST", "/_replicate", json, body: cancel).status == 200)
                #expect(try await server.answer("GET", "/_active_tasks").text == "[]\n")
                #expect(try await server.answer("POST", "/_replicate", json, body: cancel).status == 404)
            }
        }
    }
}
#endif
