import Foundation
import Tansu
import Testing

@Suite("Updates that leave the type of a number")
struct NumberLimitTests {
    private struct Numbers: Codable, Sendable, Identifiable, Equatable {
        struct Part: Codable, Sendable, Equatable { var tiny: Int8 = 120 }

        var id: Int
        var tiny: Int8 = 0
        var byte: UInt8 = 0
        var short: Int16 = 0
        var medium: Int32 = 0
        var large: Int64 = 0
        var unsigned: UInt64 = 0
        var float: Float = 1
        var optional: Int8?
        var part: Part?
    }

    private func collection(_ values: Numbers...) throws -> Database.Collection<Numbers> {
        let numbers = try Database(.memory).collection("numbers", of: Numbers.self)
        try numbers.save(values)
        return numbers
    }

    private func refuses(
        _ value: Numbers, _ changes: @escaping (inout Database.Update<Numbers>) -> Void,
        sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let numbers = try collection(value, Numbers(id: 2))
        let error = #expect(throws: TansuError.self, sourceLocation: sourceLocation) {
            try numbers.update(where: { $0.id > 0 }, changes)
        }
        #expect(error?.code == .invalidQuery, sourceLocation: sourceLocation)
        #expect(error?.message.contains("too large") ?? false, sourceLocation: sourceLocation)
        #expect(try numbers.find().sorted(by: \.id).all() == [value, Numbers(id: 2)], sourceLocation: sourceLocation)
    }

    @Test("An update whose result the type does not hold throws and changes nothing")
    func refused() throws {
        try refuses(Numbers(id: 1, tiny: 127)) { $0.increment(\.tiny) }
        try refuses(Numbers(id: 1, tiny: -128)) { $0.increment(\.tiny, by: -1) }
        try refuses(Numbers(id: 1, tiny: 64)) { $0.multiply(\.tiny, by: 2) }
        try refuses(Numbers(id: 1, tiny: -128)) { $0.multiply(\.tiny, by: -1) }
        try refuses(Numbers(id: 1, tiny: 65)) { $0.multiply(\.tiny, by: -2) }
        try refuses(Numbers(id: 1, tiny: -65)) { $0.multiply(\.tiny, by: -2) }
        try refuses(Numbers(id: 1, byte: 255)) { $0.increment(\.byte) }
        try refuses(Numbers(id: 1, short: .max)) { $0.increment(\.short, by: 3) }
        try refuses(Numbers(id: 1, medium: .max)) { $0.increment(\.medium) }
        try refuses(Numbers(id: 1, large: .max)) { $0.increment(\.large) }
        try refuses(Numbers(id: 1, unsigned: .max)) { $0.increment(\.unsigned) }
        try refuses(Numbers(id: 1, unsigned: .max / 2 + 1)) { $0.multiply(\.unsigned, by: 2) }
        try refuses(Numbers(id: 1, float: 3e38)) { $0.multiply(\.float, by: -10) }
        try refuses(Numbers(id: 1, float: 3e38)) { $0.increment(\.float, by: 3e38) }
        try refuses(Numbers(id: 1, float: -3e38)) { $0.increment(\.float, by: -3e38) }
        try refuses(Numbers(id: 1, optional: 127)) { $0.increment(\.optional) }
        try refuses(Numbers(id: 1, part: .init())) { $0.increment(\.part?.tiny, by: 9) }
        try refuses(Numbers(id: 1, tiny: 127)) { update in
            update.increment(\.medium)
            update.increment(\.tiny)
        }
    }

    @Test("What the type just holds is computed, for all sizes and signs")
    func computed() throws {
        let numbers = try collection(
            Numbers(
                id: 1, tiny: 126, byte: 127, short: -32767, medium: .max - 1, unsigned: .max - 1, float: -1.7e38,
                optional: nil, part: .init()))
        try numbers.update(where: { $0.id == 1 }) {
            $0.increment(\.tiny)
            $0.multiply(\.byte, by: 2)
            $0.increment(\.short, by: -1)
            $0.increment(\.medium)
            $0.increment(\.unsigned)
            $0.multiply(\.float, by: 2)
            $0.increment(\.optional, by: 127)
            $0.increment(\.part?.tiny, by: 7)
        }
        #expect(
            try numbers.get(1)
                == Numbers(
                    id: 1, tiny: 127, byte: 254, short: .min, medium: .max, unsigned: .max, float: -3.4e38,
                    optional: 127, part: .init(tiny: 127)))
        // Documents that do not match do not matter.
        try numbers.save(Numbers(id: 2))
        #expect(try numbers.update(where: { $0.id == 2 }) { $0.increment(\.tiny) }.modified == 1)
        #expect(try numbers.update(numbers.find().sorted(by: \.tiny).limit(1)) { $0.increment(\.tiny) }.modified == 1)
        #expect(try numbers.get(2)?.tiny == 2 && numbers.get(1)?.tiny == 127)
        let infinite = try collection(Numbers(id: 1, float: .infinity))
        #expect(try infinite.update(where: { $0.id == 1 }) { $0.increment(\.float) }.matched == 1)
    }

    @Test("A type of more than an int64 goes on beyond it, in each document once")
    func wide() throws {
        let edge = UInt64(Int64.max)
        let numbers = try collection(
            Numbers(id: 1, unsigned: edge), Numbers(id: 2, unsigned: 5), Numbers(id: 3, unsigned: edge + 7),
            Numbers(id: 4, unsigned: edge - 1))
        let result = try numbers.update(where: { $0.id > 0 }) { $0.increment(\.unsigned) }
        #expect(result.matched == 4 && result.modified == 4)
        #expect(try numbers.find().sorted(by: \.id).all().map(\.unsigned) == [edge + 1, 6, edge + 8, edge])
        try numbers.update(where: { $0.id == 4 }) { $0.multiply(\.unsigned, by: 2) }
        #expect(try numbers.get(4)?.unsigned == edge * 2)
        #expect(try numbers.find { $0.unsigned == edge * 2 }.count() == 1)
        try numbers.upsert(where: { $0.id == 3 }) { $0.increment(\.unsigned, by: 2) }
        #expect(try numbers.get(3)?.unsigned == edge + 10)
    }
}
