import Foundation
import TansuBSON
import Testing

@Suite("Input of other programs")
struct ForeignInputTests {
    @Test("binary input is recognized, and neither imported nor reported line by line", arguments: ["file", "-"])
    func binary(file: String) throws {
        let command = try Command.withPeople()
        let bytes = [0x50, 0x4B, 0x03, 0x04, 0x0A, 0x00] + (0..<5000).map { UInt8($0 % 251) }
        try command.write("file", bytes)
        for words in [["import", "people.tansu", file, "--collection", "people", "--drop"], ["save", "new", "c"]] {
            let result = try command.tansu(words, input: bytes)
            #expect(result.status == 65)
            #expect(result.error.contains("is a binary file, not") && result.error.hasSuffix("\n"))
            #expect(result.error.filter { $0 == "\n" }.count == 1)
        }
        #expect(try command.tansu("count", "people.tansu", "people").output == "3\n")
        #expect(!command.exists("new"))
        #expect(try command.tansu("load", "new", "file").error.contains("is a binary file, not a dump"))
    }

    @Test("of very many invalid lines the first are shown, and all are counted")
    func manyInvalidLines() throws {
        let command = try Command()
        let text = "{\"_id\": 1}\n" + String(repeating: "no JSON\n", count: 5000)
        let result = try command.tansu(["import", "db", "-", "--collection", "c"], input: Array(text.utf8))
        #expect(result.status == 1)
        let lines = result.error.split(separator: "\n")
        #expect(lines.count == 21 && lines.last == "tansu: 4,980 more invalid documents not shown")
        #expect(result.output.contains("5,000 invalid documents skipped"))
    }

    @Test("import, save and load accept version 1 of extended JSON")
    func version1() throws {
        let command = try Command()
        let text = """
            {"_id": 1, "d": {"$date": 1356351330501}, "b": {"$binary": "AQI=", "$type": "00"}, \
            "r": {"$regex": "^a", "$options": "i"}}

            """
        let expected: BSONDocument = [
            "_id": 1, "d": .date(1_356_351_330_501), "b": .binary(BSONBinary([1, 2])),
            "r": .regularExpression(BSONRegularExpression("^a", options: "i")),
        ]
        for words in [
            ["import", "db", "-", "--collection", "c"], ["save", "db", "c"], ["load", "db", "--collection", "d"],
        ] {
            let result = try command.tansu(words, input: Array(text.utf8))
            #expect(result.status == 0, "\(result.error)")
            #expect(try command.tansu("find", "db", words.last ?? "", "{}").documents() == [expected])
        }
        #expect(try command.tansu("save", "db", "c", text).status == 0)
        // In a query it is an operator.
        try command.succeed("save", "db", "e", "{\"_id\": 1, \"n\": \"Abc\"}")
        let found = try command.tansu("count", "db", "e", "{\"n\": {\"$regex\": \"^a\", \"$options\": \"i\"}}")
        #expect(found.output == "1\n", "\(found.error)")
        let date = try command.tansu("count", "db", "c", "{\"d\": {\"$date\": 5}}")
        #expect(date.status == 65 && date.error.contains("{\"$date\": \"2012-12-24T12:15:30.501Z\"}"))
    }

    @Test("the forms that mongoexport has written for the types of MongoDB are read")
    func mongoexport() throws {
        let forms: [(String, BSONValue)] = [
            (#"{"$date": "2014-02-20T01:19:29.000-0500"}"#, .date(1_392_877_169_000)),
            (#"{"$date": "2014-02-20T01:19:29Z"}"#, .date(1_392_859_169_000)),
            (#"{"$date": {"$numberLong": "-62135593139000"}}"#, .date(-62_135_593_139_000)),
            (#"{"$date": -5}"#, .date(-5)),
            (#"{"$timestamp": {"t": 5, "i": 2}}"#, .timestamp(BSONTimestamp(seconds: 5, increment: 2))),
            (#"{"$binary": {"base64": "AP8=", "subType": "05"}}"#, .binary(BSONBinary([0, 255], subtype: .md5))),
            (#"{"$type": "00", "$binary": "AP8="}"#, .binary(BSONBinary([0, 255]))),
            (
                #"{"$regularExpression": {"pattern": "^a", "options": "i"}}"#,
                .regularExpression(BSONRegularExpression("^a", options: "i"))
            ),
            (#"{"$numberLong": "5"}"#, .int64(5)), (#"{"$numberInt": "5"}"#, .int32(5)),
            (#"{"$numberDouble": "Infinity"}"#, .double(.infinity)), (#"{"$undefined": true}"#, .undefined),
            (#"{"$minKey": 1}"#, .minKey), (#"{"$maxKey": 1}"#, .maxKey),
            (#"{"$ref": "c", "$id": 1}"#, ["$ref": "c", "$id": 1]),
        ]
        let command = try Command()
        let lines = forms.enumerated().map { "{\"_id\": \($0), \"v\": \($1.0)}\n" }.joined()
        let result = try command.tansu(["import", "db", "-", "--collection", "c"], input: Array(lines.utf8))
        #expect(result.status == 0, "\(result.error)")
        let found = try command.tansu("find", "db", "c", "{}", "--canonical").documents()
        #expect(found == forms.enumerated().map { ["_id": BSONValue($0), "v": $1.1] })
    }

    @Test("a byte order mark is no part of the text", arguments: ["import", "load", "save"])
    func byteOrderMark(name: String) throws {
        let command = try Command()
        let input = Array("\u{FEFF}{\"_id\": 1}\n{\"_id\": 2}\n".utf8)
        try command.write("c.json", input)
        for words in [["c.json", "--collection"], ["-", "--collection"]] {
            let words = name == "save" ? ["save", "db", "c"] : [name, "db"] + words + ["c"]
            #expect(try command.tansu(words, input: input).status == 0)
            #expect(try command.tansu("count", "db", "c").output == "2\n")
            try command.succeed("collections", "drop", "db", "c")
        }
        try command.succeed("import", "db", "c.json")
        let dump = "\u{FEFF}" + (try command.tansu("dump", "db").output)
        #expect(try command.tansu(["load", "other"], input: Array(dump.utf8)).status == 0)
        #expect(try command.tansu("count", "other", "c").output == "2\n")
    }
}
