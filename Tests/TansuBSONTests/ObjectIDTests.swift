import Foundation
import Testing

@testable import TansuBSON

struct ObjectIDTests {
    @Test func idsOfManyThreadsDiffer() async {
        let ids = await withTaskGroup(of: [ObjectID].self) { group in
            for _ in 0..<8 { group.addTask { (0..<2000).map { _ in ObjectID() } } }
            return await group.reduce(into: []) { $0 += $1 }
        }
        #expect(Set(ids).count == 16_000)
    }

    @Test func idsOfOneThreadAscend() {
        var generator = ObjectIDGenerator()
        let ids = (0..<100).map { generator.next(seconds: 1000 + UInt32($0), process: 1) }
        #expect(ids == ids.sorted())
    }

    @Test func aForkedChildDrawsNewRandomBytes() {
        var parent = ObjectIDGenerator()
        _ = parent.next(seconds: 1, process: 10)
        var child = parent
        let fromParent = parent.next(seconds: 2, process: 10)
        let fromChild = child.next(seconds: 2, process: 11)
        #expect(fromParent.bytes[4..<9] != fromChild.bytes[4..<9])
    }

    @Test func theCounterWrapsWithoutTouchingTheRandomBytes() {
        var generator = ObjectIDGenerator()
        let first = generator.next(seconds: 1, process: 1)
        var last = first
        for _ in 0..<0x100_0000 { last = generator.next(seconds: 1, process: 1) }
        #expect(last == first)
    }

    @Test func textAndBytesSayTheSame() throws {
        let text = "507f1f77bcf86cd799439011"
        let id = try #require(ObjectID(text))
        #expect(id.hexString == text)
        #expect("\(id)" == text)
        #expect(id.bytes == bytes(text))
        #expect(ObjectID(bytes: id.bytes) == id)
        #expect(ObjectID(text.uppercased()) == id)
        #expect(id.timestamp == Date(timeIntervalSince1970: 1_350_508_407))
    }

    @Test(arguments: [
        "", "507f1f77bcf86cd79943901", "507f1f77bcf86cd7994390111", "507f1f77bcf86cd79943901g",
        "507f1f77bcf86cd7994390é",
    ])
    func otherTextIsRefused(_ text: String) { #expect(ObjectID(text) == nil) }

    @Test func orderIsThatOfTheBytes() {
        var random = SeededGenerator(seed: 4)
        for _ in 0..<500 {
            let (a, b) = (random.objectID(), random.objectID())
            #expect((a < b) == a.bytes.lexicographicallyPrecedes(b.bytes))
            // Ids that differ only in the last bytes, as those of one process and second do.
            let c = ObjectID(high: a.high, low: b.low)
            #expect((a < c) == a.bytes.lexicographicallyPrecedes(c.bytes))
        }
    }

    @Test func theTimestampIsTheTimeOfCreation() {
        let before = UInt32(time(nil))
        let id = ObjectID()
        let after = UInt32(time(nil))
        #expect((before...after).contains(id.secondsSince1970))
    }
}
