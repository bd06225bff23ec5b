import Foundation
import TansuBSON
import Testing

@testable import Tansu

@Suite("Error messages of the program")
struct ErrorMessageTests {
    @Test(
        "commands that read or change need a database and do not create one",
        arguments: [
            ["find", "absent", "c"], ["count", "absent", "c"], ["get", "absent", "c", "1"],
            ["remove", "absent", "c", "{}"], ["index", "list", "absent", "c"], ["collections", "absent"],
            ["stats", "absent"], ["explain", "absent", "c"], ["index", "create", "absent", "c", "a"],
        ])
    func noDatabase(words: [String]) throws {
        let command = try Command()
        let result = try command.tansu(words, input: [])
        #expect(result.status == 66)
        #expect(
            result.error
                == "tansu: Database \"absent\" does not exist; check the path, or create it with \"tansu import\" "
                + "or \"tansu save\" [NOT_FOUND, absent]\n")
        #expect(!command.exists("absent"))
    }

    @Test("the error for a missing collection lists the existing ones")
    func noCollection() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "persons")
        #expect(result.status == 66)
        #expect(
            result.error
                == "tansu: Collection \"persons\" does not exist; the database has \"people\" "
                + "[NOT_FOUND, people.tansu]\n")
    }

    @Test("the error for invalid JSON has line and column")
    func badJSON() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "people", "{age: 3}")
        #expect(result.status == 65)
        #expect(result.error.contains("INVALID_JSON"))
        #expect(result.error.contains("column 2"))
    }

    @Test("the error for an unknown operator or hint has its name")
    func badQuery() throws {
        let command = try Command.withPeople()
        let query = try command.tansu("find", "people.tansu", "people", "{\"age\": {\"$near\": 3}}")
        #expect(query.status == 65)
        #expect(query.error.contains("$near"))
        let hint = try command.tansu("count", "people.tansu", "people", "{}", "{\"$orderBy\": {\"a\": 1}}")
        #expect(hint.status == 65)
        #expect(hint.error.contains("$orderBy"))
    }

    @Test("with --json an error is an object on standard error, and standard output is empty")
    func json() throws {
        let command = try Command.withPeople()
        let result = try command.tansu("find", "people.tansu", "people", "{\"age\": {\"$near\": 3}}", "--json")
        #expect(result.status == 65)
        #expect(result.output.isEmpty)
        let object = try BSONDocument(extendedJSON: result.error)
        #expect(object["ok"] == .bool(false))
        #expect(object["error"]?.documentValue?["code"] == .string("INVALID_QUERY"))
    }

    @Test("a folder with other files, or a file, is not changed")
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

    @Test("a database cannot be created in a missing folder")
    func cannotCreate() throws {
        let command = try Command()
        let result = try command.tansu("save", "no/such/place", "c", "{}")
        #expect(result.status == 73)
    }

    @Test("a database that another process has open is locked")
    func locked() throws {
        let command = try Command.withPeople()
        let database = try Database(path: command.path("people.tansu"))
        let result = try command.tansu("save", "people.tansu", "people", "{}")
        #expect(result.status == 75)
        #expect(result.error.contains("[LOCKED, people.tansu]"))
        try database.close()
        #expect(try command.tansu("save", "people.tansu", "people", "{}").status == 0)
    }

    @Test("commands that only read share a database with other readers")
    func readers() throws {
        let command = try Command.withPeople()
        let database = try Database(path: command.path("people.tansu"), options: Database.Options(readOnly: true))
        let commands = [
            ["find", "people.tansu", "people"], ["stats", "people.tansu"], ["explain", "people.tansu", "people"],
            ["dump", "people.tansu"], ["verify", "people.tansu"], ["collections", "people.tansu"],
        ]
        for words in commands {
            let result = try command.tansu(words, input: [])
            #expect(result.status == 0, "\(words): \(result.error)")
        }
        try database.close()
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

    @Test("a failed write of the output is an error", .enabled(if: FileManager.default.fileExists(atPath: "/dev/full")))
    func fullOutput() throws {
        let command = try Command.withPeople()
        let result = try command.shell("tansu find people.tansu people > /dev/full")
        #expect(result.status == 74)
        #expect(result.error.hasPrefix("tansu: Cannot write the output: "))
    }
}
