#if TansuServer
import Testing

@testable import TansuServer

@Suite("What endpoints read of requests")
struct EndpointPartsTests {
    @Test(
        "Ranges of bytes",
        arguments: [
            ("bytes=0-9", [0..<10]), ("bytes=90-", [90..<100]), ("bytes=-5", [95..<100]), ("bytes=-500", [0..<100]),
            ("bytes=50-500", [50..<100]), ("bytes=0-1,5-6", [0..<2, 5..<7]),
        ] as [(String, [Range<Int64>])])
    func ranges(header: String, expected: [Range<Int64>]) throws {
        #expect(try ByteRanges(header, length: 100) == .parts(expected))
    }

    @Test(
        "What is no range is all",
        arguments: [
            nil, "junk", "bytes=", "bytes=a-b", "bytes=1", "items=0-1", "bytes=0-1,x",
            "bytes=0-0,1-1,2-2,3-3,4-4,5-5,6-6,7-7,8-8,9-9",
        ])
    func noRange(header: String?) throws {
        #expect(try ByteRanges(header, length: 100) == .all)
    }

    @Test(
        "A range after the end, or that ends before it begins, is refused", arguments: ["bytes=100-", "bytes=5-2"])
    func outside(header: String) {
        #expect(throws: HTTPFailure.rangeNotSatisfiable) { try ByteRanges(header, length: 100) }
    }

    @Test func theMostSpecificAcceptedTypeCounts() {
        let types = AcceptedTypes("text/html, application/json;q=0, */*;q=0.1, multipart/*")
        #expect(types.contains("text/html") && types.contains("multipart/mixed") && types.contains("image/png"))
        #expect(!types.contains("application/json"))
        #expect(!AcceptedTypes("application/json").contains("multipart/related"))
    }

    @Test func sequencesOfAnotherDatabaseBeginAtTheBeginning() throws {
        let text = SequenceText(instance: "ab-cd")
        #expect(text(7) == "7-abcd")
        #expect(try text.sequence("7-abcd") == 7 && text.sequence("\"7-abcd\"") == 7)
        #expect(try text.sequence("7-other") == 0 && text.sequence("0") == 0)
        for wrong in ["", "7", "x", "-1", "-1-abcd", "7-"] {
            #expect(throws: HTTPFailure.self) { try text.sequence(wrong) }
        }
    }

    @Test func idsInURLsAreEncodedAsCouchDBDoes() {
        #expect(URLText.encoded("org.couchdb.user:jan") == "org.couchdb.user:jan")
        #expect(URLText.encoded("_design/ä b\n") == "_design%2F%C3%A4%20b%0A")
    }
}
#endif
