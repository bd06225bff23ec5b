import Foundation
import Tansu
import Testing

@Suite("Errors")
struct TansuErrorTests {
    @Test("Every status of the engine has a code of the same name")
    func names() {
        let codes: [TansuError.Code] = [
            .memory, .invalidArgument, .closed, .io, .full, .locked, .busy, .readOnly, .corrupt, .version, .notFound,
            .exists,
            .notUnique, .invalidName, .invalidBSON, .invalidDocument, .invalidID, .invalidQuery, .invalidIndex,
            .invalidJSON, .invalidCommand, .tooLarge, .cancelled, .timeout, .syncFailed, .unsupported,
            .invalidState, .referenced,
        ]
        #expect(codes.map(\.rawValue) == Array(10...37))
        #expect(Set(codes.map(\.description)).count == codes.count)
        #expect(TansuError.Code.notUnique.description == "NOT_UNIQUE")
        #expect(TansuError.Code.invalidBSON.description == "INVALID_BSON")
    }

    @Test("An error has code, message and location in its description, also for Foundation")
    func description() {
        let error = TansuError(.io, "the log cannot be read", context: "people.tansu", offset: 512, systemErrno: EIO)
        #expect(error.description.hasPrefix("IO: the log cannot be read [people.tansu] at 512 (errno \(EIO)"))
        #expect(error.localizedDescription == error.description)
        #expect(TansuError(.closed, "it is closed").description == "CLOSED: it is closed")
    }

    @Test("Documents that cannot be stored are rejected with their own code")
    func documents() throws {
        let things = try Database(.memory).collection("things")
        let cases: [(BSONDocument, TansuError.Code)] = [
            (["_id": [1, 2]], .invalidID),
            (["_id": nil], .invalidID),
            (["$set": 1], .invalidDocument),
            (["a": ["$b": 1]], .invalidDocument),
        ]
        for (document, code) in cases {
            let error = #expect(throws: TansuError.self) { try things.save(document) }
            #expect(error?.code == code)
            #expect(error?.message.isEmpty == false)
        }
        #expect(try things.count() == 0)
    }
}
