import Foundation
import TansuBSON
import Testing

@testable import Tansu
@testable import TansuCommand

@Suite("tansu demo")
struct DemoTests {
    @Test("the demo prints every step, and the next commands work as printed")
    func text() throws {
        let command = try Command()
        let result = try command.tansu("demo")
        try #require(result.status == 0, "\(result.error)")
        for text in [
            "GeoNames", "CC BY 4.0", "34,006 documents", DemoQuery.indexName, "São Paulo", "Brasília",
            "12,400,232", "./tansu-demo.tansu",
        ] {
            #expect(result.output.contains(text), "\(text)")
        }
        #expect(!result.output.contains("\u{1B}"))
        let next = result.output.components(separatedBy: "Next commands").last ?? ""
        let commands = next.split(separator: "\n").filter { $0.hasPrefix("  tansu ") }
        #expect(commands.count == 6)
        for line in commands {
            let run = try command.shell(String(line))
            #expect(run.status == 0, "\(line): \(run.error)")
        }
        let tokyo = try command.shell(String(commands.first ?? ""))
        #expect(tokyo.output.contains("Tokyo"))
    }

    @Test("another run replaces the collection of the earlier run and keeps other collections")
    func again() throws {
        let command = try Command()
        let first = try command.tansu("demo", "--path", "d", "--json").json()
        #expect(first["imported"]?.intValue == 34_006)
        #expect(first["documents"]?.arrayValue?.count == 10)
        try command.succeed("save", "d", "notes", "{\"text\": \"mine\"}")
        let second = try command.tansu("demo", "--path", "d")
        #expect(second.status == 0)
        #expect(second.output.contains("earlier run was dropped"))
        #expect(try command.tansu("count", "d", "cities").output == "34006\n")
        #expect(try command.tansu("count", "d", "notes").output == "1\n")
    }

    @Test("a collection that the demo did not create is kept")
    func othersCities() throws {
        let command = try Command()
        try command.succeed("save", "d", "cities", "{\"name\": \"Springfield\"}")
        let result = try command.tansu("demo", "--path", "d")
        #expect(result.status == 73)
        #expect(
            result.error
                == "tansu: Collection \"cities\" has documents that the demo did not save; choose another folder with --path, "
                + "nothing was changed [EXISTS, d]\n")
        #expect(try command.tansu("count", "d", "cities").output == "1\n")
    }

    @Test("a document that was added or changed since is kept", arguments: [true, false])
    func changedCities(adding: Bool) throws {
        let command = try Command()
        try command.succeed("demo", "--path", "d")
        if adding {
            try command.succeed("save", "d", "cities", "{\"_id\": 1, \"geonameid\": 1, \"name\": \"Entenhausen\"}")
        } else {
            let change = ["update", "d", "cities", "{\"name\": \"Tokyo\"}", "{\"$set\": {\"visited\": true}}"]
            #expect(try command.tansu(change, input: []).status == 0)
        }
        let result = try command.tansu("demo", "--path", "d")
        #expect(result.status == 73)
        #expect(try command.tansu("count", "d", "cities").output == (adding ? "34007\n" : "34006\n"))
        let kept = adding ? "{\"name\": \"Entenhausen\"}" : "{\"visited\": true}"
        #expect(try command.tansu("count", "d", "cities", kept).output == "1\n")
    }

    @Test("a folder with other files is not changed")
    func otherFolder() throws {
        let command = try Command()
        try FileManager.default.createDirectory(atPath: command.path("d"), withIntermediateDirectories: true)
        try command.write("d/letter.txt", "Dear Ann")
        let result = try command.tansu("demo", "--path", "d")
        #expect(result.status == 73)
        #expect(try FileManager.default.contentsOfDirectory(atPath: command.path("d")) == ["letter.txt"])
    }

    @Test("missing data is an error")
    func noData() throws {
        #expect {
            try DemoData.path(executable: "/nonexistent/tansu")
        } throws: { error in
            (error as? CommandError)?.status == .noInput
        }
    }
}
