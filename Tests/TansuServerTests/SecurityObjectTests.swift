#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer

/// The security object of a database, as it is given and read.
@Suite struct SecurityObjectTests {
    private static let json = ["Content-Type": "application/json"]

    @Test("Members are the readers where there are no members, as in CouchDB")
    func readers() {
        let readers = SecurityObject(["readers": ["names": .array(["bert"]), "roles": .array([])]])
        #expect(readers.isMember(UserContext(name: "bert", roles: [])))
        #expect(!readers.isMember(UserContext(name: "anna", roles: [])))
        #expect(!readers.isMember(.anonymous))
        let both = SecurityObject(["members": [:], "readers": ["names": .array(["bert"])]])
        #expect(both.isMember(.anonymous))
    }

    @Test("What is given is read back, and readers are checked like members") @available(macOS 14, *)
    func readBack() async throws {
        try await RunningServer.run { server in
            #expect(try await server.answer("PUT", "/q", Self.json).status == 201)
            let text = #"{"foo":12345678901234567890,"bar":1.5,"readers":{"names":["bert"]}}"#
            #expect(try await server.answer("PUT", "/q/_security", Self.json, body: text).status == 200)
            #expect(try await server.answer("GET", "/q/_security").text == text + "\n")
            let invalid = try await server.answer(
                "PUT", "/q/_security", Self.json, body: #"{"readers":{"names":"bert"}}"#)
            #expect(invalid.status == 400)
        }
    }

    @Test("Errors show numbers as the client wrote them") @available(macOS 14, *)
    func largeNumbers() async throws {
        try await RunningServer.run { server in
            #expect(try await server.answer("PUT", "/q", Self.json).status == 201)
            let find = try await server.answer(
                "POST", "/q/_find", Self.json, body: #"{"selector":{},"skip":99999999999999999999}"#)
            #expect(find.text.contains(#""reason":"99999999999999999999 is not an integer"#), "\(find.text)")
            let rows = try await server.answer("GET", "/q/_all_docs?limit=99999999999999999999")
            #expect(rows.status == 400 && !rows.text.contains("$"), "\(rows.text)")
        }
    }
}
#endif
