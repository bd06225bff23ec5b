import TansuBSON
import Testing

@testable import TansuCommand

@Suite("The parsing of arguments")
struct ArgumentTests {
    @Test("an id is an ObjectID, JSON, or the text itself")
    func ids() throws {
        let hex = "5f0c2a9e1b3d4c5a6b7c8d9e"
        #expect(JSONArguments.id("7") == .int32(7))
        #expect(JSONArguments.id("mike") == .string("mike"))
        #expect(JSONArguments.id("\"7\"") == .string("7"))
        #expect(JSONArguments.id(hex) == ObjectID(hex).map(BSONValue.objectID))
        #expect(JSONArguments.id("{\"$oid\": \"\(hex)\"}") == ObjectID(hex).map(BSONValue.objectID))
        #expect(JSONArguments.id("1, \"a\": 2") == .string("1, \"a\": 2"))
    }

    @Test("an order is JSON or a list of paths")
    func order() throws {
        #expect(try JSONArguments.order("name,-age") == ["name": 1, "age": -1])
        #expect(try JSONArguments.order("+name, -age") == ["name": 1, "age": -1])
        #expect(try JSONArguments.order(" {\"age\": -1}") == ["age": -1])
        #expect(throws: CommandError.self) { try JSONArguments.order("name,,age") }
        #expect(try JSONArguments.order("name asc, age desc") == ["name": 1, "age": -1])
        #expect(try JSONArguments.order("first name,asc") == ["first name": 1, "asc": 1])
        #expect(throws: CommandError.self) { try JSONArguments.order("-name asc") }
        #expect(try JSONArguments.keys("name,age:-1") == ["name": 1, "age": -1])
    }

    @Test(
        "a last argument that begins with a minus is moved behind --",
        arguments: [
            (["get", "d", "c", "-5", "--json"], ["get", "d", "c", "--json", "--", "-5"]),
            (["get", "d", "c", "--json"], ["get", "d", "c", "--json"]),
            (["get", "d", "c", "--", "-5"], ["get", "d", "c", "--", "-5"]),
            (["get", "-h"], ["get", "-h"]), (["find", "d", "c", "-5"], ["find", "d", "c", "-5"]),
            (["index", "create", "d", "c", "-a,b"], ["index", "create", "d", "c", "--", "-a,b"]),
            (
                ["index", "create", "d", "c", "-a", "--name", "-n"],
                ["index", "create", "d", "c", "--name", "-n", "--", "-a"]
            ),
        ])
    func minus(words: [String], prepared: [String]) {
        #expect(ArgumentWords.prepared(words) == prepared)
    }

    @Test("fields are JSON or a list of names")
    func fields() throws {
        #expect(try JSONArguments.fields("name,pet.species") == ["name": 1, "pet.species": 1])
        #expect(try JSONArguments.fields("-tags") == ["tags": 0])
    }

    @Test(
        "the default collection is derived from the file name",
        arguments: [
            ("people.ndjson", "people"), ("/data/cities.ndjson.gz", "cities"), ("plain", "plain"),
            ("-", nil), (".hidden", nil),
        ])
    func collections(file: String, collection: String?) {
        #expect(ImportJob.collectionName(forFile: file) == collection)
    }

    @Test(
        "words with special characters are quoted for the shell",
        arguments: [("./a.tansu", "./a.tansu"), ("my db", "'my db'"), ("it's", "'it'\\''s'"), ("", "''")])
    func quoting(word: String, quoted: String) {
        #expect(shellQuoted(word) == quoted)
    }

    @Test("an _id becomes the first field, in valid BSON")
    func withID() throws {
        let document = (["name": "Ann"] as BSONDocument).withID(.int64(7))
        #expect(document == ["_id": .int64(7), "name": "Ann"])
        #expect(try BSONDocument(bytes: document.bytes) == document)
    }
}
