import Foundation
import TansuBSON
import Testing

@testable import Tansu

@Suite("What the program says of mistakes")
struct MistakeTests {
    @Test(
        "commands that look need a database, and make none",
        arguments: [
            ["find", "absent", "c"], ["count", "absent", "c"], ["get", "absent", "c", "1"],
            ["remove", "absent", "c", "{}"], ["index", "list", "absent", "c"], ["collections", "absent"],
            ["stats", "absent"], ["explain", "absent", "c"], ["index", "create", "absent", "c", "a"],
        ])
    func noDatabase(words: [String]) throws {
        let command = try Command()
        let result = try command.tansu(words, input: [])
        #expect(result.status == 66)
        #expect(result.error.contains("There is no database"))
        #expect(result.error.contains("[NOT_FOUND, absent]"))
        #expect(!command.exists("absent"))
    }

    @Test("a collection that is not there is told, with those that are")
    func noCollection() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "persons")
        #expect(result.status == 66)
        #expect(result.error.contains("\"persons\""))
        #expect(result.error.contains("people."))
    }

    @Test("a query that is not JSON is told with its place")
    func badJSON() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "people", "{age: 3}")
        #expect(result.status == 65)
        #expect(result.error.contains("INVALID_JSON"))
        #expect(result.error.contains("column 2"))
    }

    @Test("an unknown operator or hint is told by its name")
    func badQuery() throws {
        let command = try Command.withPeople()
        let query = try command.tansu("find", "people.tansu", "people", "{\"age\": {\"$near\": 3}}")
        #expect(query.status == 65)
        #expect(query.error.contains("$near"))
        let hint = try command.tansu("count", "people.tansu", "people", "{}", "{\"$orderBy\": {\"a\": 1}}")
        #expect(hint.status == 65)
        #expect(hint.error.contains("$orderBy"))
    }

    @Test("with --json a mistake is an object on standard error, and standard output is empty")
    func json() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "people", "{\"age\": {\"$near\": 3}}", "--json")
        #expect(result.status == 65)
        #expect(result.output.isEmpty)
        let object = try BSONDocument(extendedJSON: result.error)
        #expect(object["ok"] == .bool(false))
        #expect(object["error"]?.documentValue?["code"] == .string("INVALID_QUERY"))
    }

    @Test("a folder with other things, or a file, is left as it is")
    func somethingElse() throws {
        let command = try Command()
        try FileManager.default.createDirectory(atPath: command.path("folder"), withIntermediateDirectories: true)
        try command.write("folder/letter.txt", "Dear Ann")
        try command.write("file", "Dear Bob")
        for name in ["folder", "file"] {
            let result = try command.tansu("save", name, "c", "{}")
            #expect(result.status == 73, "\(result.error)")
            #expect(try command.tansu("find", name, "c").status == 66)
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: command.path("folder")) == ["letter.txt"])
        #expect(try String(contentsOfFile: command.path("file"), encoding: .utf8) == "Dear Bob")
    }

    @Test("a database cannot be made where there is no folder for it")
    func cannotCreate() throws {
        let command = try Command()
        let result = try command.tansu("save", "no/such/place", "c", "{}")
        #expect(result.status == 73)
    }

    @Test("a database that is open for writing elsewhere is told as such")
    func locked() throws {
        let command = try Command.withPeople()
        let database = try Database(path: command.path("people.tansu"))
        let result = try command.tansu("save", "people.tansu", "people", "{}")
        #expect(result.status == 75)
        #expect(result.error.contains("[LOCKED"))
        try database.close()
        #expect(try command.tansu("save", "people.tansu", "people", "{}").status == 0)
    }

    @Test(
        "a wrong command line shows the usage",
        arguments: [
            ["find"], ["find", "db"], ["fnd"], ["find", "db", "c", "--max", "-1"],
            ["find", "db", "c", "--table", "--json"], ["import", "db", "f", "--batch", "0"],
        ])
    func usage(words: [String]) throws {
        let result = try Command().tansu(words, input: [])
        #expect(result.status == 64)
        #expect(result.error.contains("Usage: tansu"))
    }

    @Test("a disk that takes no more output is an error")
    func fullOutput() throws {
        guard FileManager.default.fileExists(atPath: "/dev/full") else { return }
        let command = try Command.withPeople()
        let result = try command.shell("tansu find people.tansu people > /dev/full")
        #expect(result.status == 74)
    }
}
