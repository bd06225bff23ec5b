#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer

/// `/_slow_calls`: the last slow calls of the server's process.
@Suite struct SlowCallsTests {
    @available(macOS 14, *)
    private static func options(_ slowCalls: SlowCalls?, admins: [String: String] = [:]) -> ServerOptions {
        var options = ServerOptions(port: 0)
        options.slowCalls = slowCalls
        options.admins = admins
        return options
    }

    @Test("The last calls are listed, the newest first, with the values of their queries") @available(macOS 14, *)
    func list() async throws {
        let slowCalls = SlowCalls(limit: 3)
        var options = Database.Options(slowCallTime: .zero)
        slowCalls.record(&options)
        let database = try Database(.memory, options: options)
        let people = try database.collection("people")
        let calls = try await RunningServer.run(database, options: Self.options(slowCalls)) {
            (server: RunningServer) async throws in
            for number in 0..<5 { _ = try await people.find(["n": BSONValue(number)]).all() }
            let long = String(repeating: "\u{202E}x", count: 5_000)
            _ = try await people.find(["long": .string(long)]).sorted(by: "n").all()
            while true {
                let answer = try await server.answer("GET", "/_slow_calls")
                let document = try BSONDocument(extendedJSON: answer.text)
                let calls = document.documentList("calls")
                #expect(answer.status == 200 && document["slowCallMS"]?.doubleValue == 0 && calls.count <= 3)
                // A call that is explained is listed when that has ended.
                if calls.count == 3, calls.contains(where: { $0["isCut"] == true }) { return calls }
            }
        }
        let cut = try #require(calls.first { $0["isCut"] == true })
        #expect(cut["kind"] == "find" && cut["orderby"] == #"{"n":1}"# && cut["collection"] == "people")
        let query = try #require(cut["query"]?.stringValue)
        #expect(query.utf8.count <= 4_096 && query.utf8.count > 4_000 && !query.unicodeScalars.contains("\u{FFFD}"))
        let times = calls.map { $0["time"]?.doubleValue ?? 0 }
        #expect(times == times.sorted(by: >) && times.allSatisfy { $0 > 1e12 })
        let others = calls.filter { $0["isCut"] == nil }.compactMap { $0["query"]?.stringValue }
        #expect(others.count == 2 && others.allSatisfy { $0.wholeMatch(of: /\{"n":[0-4]\}/) != nil })
    }

    @Test("Nobody but server admins sees them, and nothing is there without a list") @available(macOS 14, *)
    func access() async throws {
        try await RunningServer.run(options: Self.options(nil)) { (server: RunningServer) async throws in
            #expect(try await server.answer("GET", "/_slow_calls").status == 404)
        }
        let options = Self.options(SlowCalls(), admins: ["anna": "secret"])
        try await RunningServer.run(options: options) { (server: RunningServer) async throws in
            #expect(try await server.answer("GET", "/_slow_calls").status == 401)
            let basic = ["Authorization": "Basic " + Data("anna:secret".utf8).base64EncodedString()]
            let answer = try await server.answer("GET", "/_slow_calls", basic)
            #expect(answer.text == "{\"slowCallMS\":null,\"limit\":200,\"calls\":[]}\n", "\(answer.text)")
        }
    }
}
#endif
