#if TansuSync
import TansuBSON
import TansuTestSupport
import Testing

@testable import TansuSync

@Suite("The wire: mutated text")
struct WireMutationTests {
    private static let pieces = [
        #"{"_id":"#, #""x""#, #"{"$date":"2024-05-01T12:00:00Z"}"#, #"{"$numberDecimal":"1.50"}"#, #"{"$oid":"#,
        #""507f1f77bcf86cd799439011""#, #"{"$binary":{"base64":"AQ==","subType":"00"}}"#, "[", "]", "{", "}", ",",
        ":",
        #""_attachments":{"a":{"data":"aGk="}}"#, #""_revisions":{"start":2,"ids":["aa","bb"]}"#, #""_rev":"1-aa""#,
        "12345678901234567890", "-0", "1e5", "1e-400", "true", "null", #""\u00e9\ud83d\ude00""#, " ",
        #""_deleted":true"#,
    ]

    @Test("Mutated text gives an error or a document that is written and read as itself")
    func mutations() throws {
        let seed = SeededGenerator.seed()
        print("TANSU_SEED=\(seed)")
        var random = SeededGenerator(seed: seed)
        let revision = try #require(Revision("1-a"))
        let whole =
            #"{"_id":"x","_rev":"2-aa","a":{"$date":"2024-05-01T12:00:00Z"},"b":[1,{"$oid":"507f1f77bcf86cd799439011"}],"#
            + #""c":{"$code":"f","$scope":{"d":1.5}},"_attachments":{"f":{"stub":true,"revpos":1}},"e":"é\n\u0000"}"#
        var accepted = 0
        for _ in 0..<20_000 {
            var bytes = Array(whole.utf8)
            for _ in 0..<Int.random(in: 1...3, using: &random) where !bytes.isEmpty {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                let end = min(at + Int.random(in: 0...6, using: &random), bytes.count)
                switch Int.random(in: 0..<4, using: &random) {
                case 0: bytes[at] = UInt8.random(in: 0...255, using: &random)
                case 1: bytes.removeSubrange(at..<end)
                case 2:
                    bytes.insert(contentsOf: bytes[at..<end], at: Int.random(in: 0...bytes.count, using: &random))
                default: bytes.insert(contentsOf: (Self.pieces.randomElement(using: &random) ?? "").utf8, at: at)
                }
            }
            do {
                let document = try WireDocument(json: bytes)
                accepted += 1
                // All of it is valid BSON.
                _ = try BSONDocument(bytes: document.fields.bytes)
                let text = WireRevisionText(id: "x", revision: revision, fields: document.fields).json()
                #expect(try WireDocument(json: text).fields == document.fields)
            } catch let error as WireError {
                #expect(!error.reason.isEmpty)
            }
        }
        #expect(accepted > 1000)
    }
}
#endif
