import Foundation
import Testing

@testable import TansuBSON

struct ExtendedJSONTests {
    @Test func randomDocumentsComeBackFromCanonicalText() throws {
        var random = SeededGenerator(seed: 1)
        for _ in 0..<300 {
            let document = random.document()
            for pretty in [false, true] {
                let text = document.extendedJSON(.canonical, pretty: pretty)
                #expect(try BSONDocument(extendedJSON: text) == document, "\(text)")
            }
        }
    }

    @Test func relaxedTextOfRandomDocumentsIsStable() throws {
        var random = SeededGenerator(seed: 2)
        for _ in 0..<200 {
            let text = random.document().extendedJSON(.relaxed)
            #expect(try BSONDocument(extendedJSON: text).extendedJSON(.relaxed) == text)
        }
    }

    @Test func prettyTextIsIndented() {
        let document: BSONDocument = ["a": 1, "b": [true, [:]], "c": [:]]
        #expect(
            document.extendedJSON(pretty: true) == """
                {
                  "a": 1,
                  "b": [
                    true,
                    {}
                  ],
                  "c": {}
                }
                """)
        #expect(document.extendedJSON() == #"{"a":1,"b":[true,{}],"c":{}}"#)
    }

    @Test(
        arguments: [
            ("1970-01-01T00:00:00Z", 0), ("2012-12-24T12:15:30.501Z", 1_356_351_330_501),
            ("2012-12-24T12:15:30.5Z", 1_356_351_330_500), ("2012-12-24T13:15:30+01:00", 1_356_351_330_000),
            ("2012-12-24T10:45:30-0130", 1_356_351_330_000), ("2000-02-29T00:00:00Z", 951_782_400_000),
            ("1969-12-31T23:59:59.999Z", -1), ("9999-12-31T23:59:59.999Z", 253_402_300_799_999),
            ("0001-01-01T00:00:00Z", -62_135_596_800_000),
        ] as [(String, Int64)])
    func datesAreRead(_ text: String, _ milliseconds: Int64) throws {
        #expect(try BSONValue(extendedJSON: #"{"$date": "\#(text)"}"#) == .date(milliseconds))
        // The text that this module writes has the same value.
        #expect(ISO8601.text(milliseconds).flatMap { ISO8601.milliseconds($0) } == milliseconds)
    }

    @Test func datesAgreeWithFoundation() {
        var random = SeededGenerator(seed: 3)
        let formatter = ISO8601DateFormatter()
        for _ in 0..<500 {
            // Before 1582 Foundation uses the Julian calendar.
            let seconds = Int64.random(in: -12_219_292_799...253_402_300_799, using: &random)
            let text = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(ISO8601.text(seconds * 1000) == text)
        }
    }

    @Test(arguments: [
        "2001-02-29T00:00:00Z", "1900-02-29T00:00:00Z", "2001-13-01T00:00:00Z", "2001-01-01",
        "2001-01-01T24:00:00Z", "x",
        "2001-01-01T00:00:00",
    ])
    func wrongDatesAreRefused(_ text: String) {
        #expect(throws: BSONError.self) { try BSONValue(extendedJSON: #"{"$date": "\#(text)"}"#) }
    }

    @Test func queryOperatorsStayDocuments() throws {
        let text = #"{"name":{"$regex":"^a","$options":"i"},"age":{"$gt":1},"$or":[{"x":{"$type":"string"}}]}"#
        #expect(try BSONDocument(extendedJSON: text).extendedJSON() == text)
    }

    /// The forms of MongoDB's description of version 1, in its strict mode.
    @Test(
        arguments: [
            (#"{"$date": 1356351330501}"#, .date(1_356_351_330_501)), (#"{"$date": -1}"#, .date(-1)),
            (#"{"$date": "2012-12-24T13:15:30.501+0100"}"#, .date(1_356_351_330_501)),
            (#"{"$binary": "AQI=", "$type": "00"}"#, .binary(BSONBinary([1, 2]))),
            (#"{"$type": "5", "$binary": "AQI="}"#, .binary(BSONBinary([1, 2], subtype: .md5))),
            (#"{"$binary": "", "$type": 128}"#, .binary(BSONBinary([], subtype: .userDefined))),
            (#"{"$regex": "^a", "$options": "i"}"#, .regularExpression(BSONRegularExpression("^a", options: "i"))),
            (#"{"$options": "", "$regex": ""}"#, .regularExpression(BSONRegularExpression("", options: ""))),
        ] as [(String, BSONValue)])
    func version1IsReadInDocumentsToStore(_ text: String, _ value: BSONValue) throws {
        let document = Array("{\"a\": [\(text)]}".utf8)
        let stored = try document.withUnsafeBytes { try BSONDocument(storedJSON: $0) }
        #expect(stored == ["a": [value]])
        #expect(text.contains("T13") || (try? BSONDocument(extendedJSON: document)) != stored)
    }

    @Test(arguments: [
        #"{"$date": 1.5}"#, #"{"$date": null}"#, #"{"$date": 5, "x": 1}"#, #"{"$date": {"$numberInt": "5"}}"#,
        #"{"$binary": "AQI=", "$type": "000"}"#, #"{"$binary": "AQI", "$type": "00"}"#, #"{"$binary": "AQI="}"#,
        #"{"$binary": "AQI=", "$type": 256}"#, #"{"$binary": "AQI=", "$type": "00", "x": 1}"#,
        #"{"$regex": "a\u0000", "$options": ""}"#,
    ])
    func otherFormsAreRefused(_ text: String) {
        #expect(throws: BSONError.self) {
            try Array("{\"a\": \(text)}".utf8).withUnsafeBytes { try BSONDocument(storedJSON: $0) }
        }
    }

    @Test(arguments: [
        #"{"$regex":"a"}"#, #"{"$type":"00"}"#, #"{"$type":2}"#, #"{"$options":"i"}"#, #"{"$regex":"a","$options":1}"#,
        #"{"$regex":"a","$options":"","x":1}"#,
    ])
    func operatorsStayDocuments(_ text: String) throws {
        let text = "{\"a\":\(text)}"
        #expect(try Array(text.utf8).withUnsafeBytes { try BSONDocument(storedJSON: $0).extendedJSON() } == text)
    }

    /// Documents that look like values of other types.
    @Test(arguments: [
        #"{"a":{"\u0024oid":"zz"}}"#, #"{"a":[{"\u0024numberInt":"5"}],"x":{"y":1,"$oid":2}}"#,
        #"{"\u0024date":{"\u0024numberLong":"1"}}"#, #"{"a":{"\u0024scope":1},"b":{"$ref":"c","$id":1}}"#,
        #"{"a":{"$x":{"$$":1}},"$b":1}"#,
    ])
    func escapedDollarsAreKeys(_ text: String) throws {
        let document = try BSONDocument(extendedJSON: text)
        #expect(document.extendedJSON() == text)
        for format in [ExtendedJSONFormat.canonical, .relaxed] {
            #expect(try BSONDocument(extendedJSON: document.extendedJSON(format)) == document)
        }
        let stored = try Array(text.utf8).withUnsafeBytes { try BSONDocument(storedJSON: $0) }
        #expect(stored == document)
        #expect(throws: BSONError.self) {
            try BSONValue(extendedJSON: #"{"a":{"$oid":"zz"}}"#)
        }
    }

    /// Keys are compared by their bytes, however many an object has.
    @Test(arguments: [0, 10, 40]) func keysThatLookTheSameAreDifferent(_ others: Int) throws {
        let rest = (0..<others).map { "\"k\($0)\":0," }.joined()
        let text = "{\(rest)\"\u{E9}\":1,\"e\u{301}\":2}"
        let document = try BSONDocument(extendedJSON: text)
        #expect(document.count == others + 2 && document.extendedJSON().utf8.elementsEqual(text.utf8))
        #expect(BSONDocument(document.map { ($0.key, $0.value) }) == document)
        #expect(throws: BSONError.self) { try BSONDocument(extendedJSON: "{\(rest)\"\u{E9}\":1,\"\u{E9}\":2}") }
    }

    @Test func everyControlCharacterIsEscaped() throws {
        for value in UInt8.min..<0x20 {
            let text = "a" + String(UnicodeScalar(value)) + "b"
            let json = BSONValue.string(text).extendedJSON()
            #expect(json.utf8.allSatisfy { $0 >= 0x20 }, "\(value)")
            #expect(try BSONValue(extendedJSON: json) == .string(text), "\(value)")
        }
    }

    @Test(arguments: ["1e999", "-1e999", "inf", "nan", "0x10", "", "1 "])
    func malformedDoublesAreRefused(_ text: String) {
        #expect(throws: BSONError.self) { try BSONValue(extendedJSON: #"{"$numberDouble": "\#(text)"}"#) }
    }

    @Test func aDocumentMustBeAnObject() {
        #expect(throws: BSONError.self) { try BSONDocument(extendedJSON: "[1]") }
        #expect(throws: BSONError.self) { try BSONDocument(extendedJSON: #"{"$oid": "56e1fc72e0c917e9c4714161"}"#) }
    }

    @Test func anyDepthCanBeWritten() {
        // Built by hand, documents can nest deeper than is accepted from outside; writing them must not overflow.
        var document = BSONDocument()
        for _ in 0..<5000 { document = ["a": .document(document)] }
        #expect(document.extendedJSON().count == 5000 * 6 + 2)
    }
}
