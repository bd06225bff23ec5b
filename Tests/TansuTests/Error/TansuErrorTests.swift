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
            .invalidState, .referenced, .moved, .encrypted, .wrongKey,
        ]
        #expect(codes.map(\.rawValue) == Array(10...40))
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
            (["_id": .undefined], .invalidID),
            (["_id": ["$set": 1]], .invalidDocument),
            (["_id": ["a": ["$b": 1]]], .invalidDocument),
        ]
        for (document, code) in cases {
            let error = #expect(throws: TansuError.self) { try things.save(document) }
            #expect(error?.code == code)
            #expect(error?.message.isEmpty == false)
        }
        #expect(try things.count() == 0)
    }

    @Test("Messages name what Swift has, not what C has")
    func swiftNames() throws {
        let db = try Database(.memory)
        let people = try db.collection("people")
        func message<Result>(_ body: () throws -> Result) -> String? {
            #expect(throws: TansuError.self, performing: body)?.message
        }
        #expect(
            message { try db.read { try $0.collection("people").save(["a": 1]) } }
                == "A transaction of read() cannot write; use write()")
        #expect(
            message { try db.read { try $0.savepoint {} } }
                == "A transaction of read() has no savepoints; use write()")
        let nested = "This thread is inside a write transaction; write through that transaction"
        try db.write { _ in
            #expect(message { try people.save(["a": 1]) } == nested)
            #expect(message { try db.write { _ in } } == nested)
        }
        #expect(
            message {
                try db.write { tx in
                    tx.cancel()
                    try tx.collection("people").save(["a": 1])
                }
            } == "The transaction was cancelled; leave its closure")
        try db.write { tx in
            let dropping = message { try tx.savepoint { try tx.dropCollection("people") } }
            #expect(dropping?.hasSuffix("in a savepoint; do it outside of savepoint()") == true)
        }
        let segmentSize = Database.Options(segmentSize: 1)
        #expect(
            message { try Database(.memory, options: segmentSize) }
                == "The option \"segmentSize\" must be from 1 MiB to 1 GiB")
        let sortMemory = Database.Options(sortMemoryBytes: 1)
        #expect(message { try Database(.memory, options: sortMemory) }?.contains("\"sortMemoryBytes\"") == true)
        let interval = Database.Options(durability: .interval(.zero))
        #expect(message { try Database(.memory, options: interval) }?.hasPrefix("The interval") == true)
    }
}
