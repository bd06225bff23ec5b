#if TansuServer
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuServer
@testable import TansuSync

@Suite("Replication: every type goes to a server and back")
struct TypeRoundTripTests {
    private static let values: [BSONValue] = [
        .double(1), .double(-0.0), .double(1e308), .double(.leastNonzeroMagnitude), .double(.nan),
        .double(.infinity),
        .string(""), .string("\u{0}\r\n\u{FFFF}😀e\u{301}"), .document([:]), .document(["": ["＄date": "yesterday"]]),
        .array([]),
        .array([1, [nil, [true]]]), .binary(BSONBinary([0, 255])), .binary(BSONBinary([9], subtype: .oldBinary)),
        .binary(BSONBinary([], subtype: .userDefined)), BSONValue(UUID()), .undefined, .objectID(ObjectID()),
        .bool(false), .date(.min), .date(-1), .date(.max), .null,
        .regularExpression(BSONRegularExpression("^a\"b", options: "im")),
        .dbPointer(BSONDBPointer(collection: "c", id: ObjectID())), .code("f()"), .symbol(BSONSymbol("s")),
        .codeWithScope(BSONCode("f()", scope: ["a": .date(5)])), .int32(.min),
        .timestamp(BSONTimestamp(seconds: .max, increment: 7)), .int64(.min), .int64(9_007_199_254_740_993),
        .minKey, .maxKey,
    ]

    @available(macOS 14, *)
    @Test("The bytes are the same, in documents and in conflicts")
    func types() async throws {
        let decimals = ["-0", "1.50", "NaN", "-Infinity", "1E+6000", "9223372036854775808"]
            .compactMap { Decimal128($0).map { BSONValue.decimal128($0) } }
        let values = Self.values + decimals
        #expect(decimals.count == 6 && Set(values.map(\.type)).count == 21)
        try await RemoteReplica.run { replica in
            for (index, value) in values.enumerated() {
                let fields: BSONDocument = [
                    "_id": .string("\(index)"), "v": value, "in": ["a.b": [value], "＄x": value],
                ]
                try await replica.near.save(fields)
                // Another replica has made the same document otherwise.
                try await replica.far.save(["_id": .string("\(index)"), "v": value, "other": [value]])
            }
            _ = try await replica.replicate(.push)
            _ = try await replica.replicate(.pull)
            let back = try Database(.memory).collection("back")
            let copy = RemoteReplica(server: replica.server, near: back, far: replica.far)
            let pulled = try await copy.replicate(.pull)
            #expect(pulled.documentsWritten == 2 * values.count && pulled.failures.isEmpty)
            for (index, value) in values.enumerated() {
                let id = "\(index)"
                let all = [replica.near, replica.far, back]
                var documents: [[UInt8]] = []
                var others: [[[UInt8]]] = []
                for people in all {
                    documents.append(try #require(try await people.get(id)).bytes)
                    others.append(try await people.conflicts(of: id).map(\.fields.bytes))
                }
                #expect(Set(documents).count == 1, "\(value)")
                #expect(Set(others).count == 1 && others[0].count == 1, "\(value)")
            }
            // Nothing is left to do, so all have the same revisions.
            #expect(try await replica.replicate(.push).missingFound == 0)
            #expect(try await copy.replicate(.push).missingFound == 0)
        }
    }
}
#endif
