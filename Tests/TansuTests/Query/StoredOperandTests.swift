import Foundation
import Tansu
import Testing

/// The value in a query is stored once, as a property of its type is.
@Suite("Operands of queries under coding strategies")
struct StoredOperandTests {
    private struct Holder<Value: Codable & Sendable>: Codable, Sendable, Identifiable {
        var id: Int
        var value: Value
        var optional: Value?
        var list: [Value]
    }

    /// What a user stores as a date of BSON's own.
    private struct Instant: Codable, Sendable, Hashable, QueryValue {
        var milliseconds: Int64

        init(_ milliseconds: Int64) { self.milliseconds = milliseconds }

        init(from decoder: any Decoder) throws {
            guard case .date(let value) = try decoder.singleValueContainer().decode(BSONValue.self) else {
                throw CocoaError(.coderReadCorrupt)
            }
            milliseconds = value
        }

        func encode(to encoder: any Encoder) throws {
            var container = encoder.singleValueContainer()
            try container.encode(BSONValue.date(milliseconds))
        }
    }

    private static let codings: [BSONCodingStrategies] = [
        .init(), .json, .init(uuid: .string, decimal: .string), .init(date: .secondsSince1970, data: .base64),
        .init(date: .deferredToDate, decimal: .double),
    ]

    private func check<Value: Codable & Sendable & Equatable & QueryValue>(
        _ value: Value, _ coding: BSONCodingStrategies, sourceLocation: SourceLocation = #_sourceLocation
    ) throws {
        let db = try Database(.memory)
        let all = try db.collection("all", of: Holder<Value>.self, coding: coding)
        try all.save(Holder(id: 1, value: value, optional: value, list: [value]))
        let conditions: [(Database.Field<Holder<Value>>) -> Database.Condition] = [
            { $0.value == value }, { $0.optional == value }, { $0.value.in([value]) }, { $0.list.contains(value) },
            { !($0.value != value) },
        ]
        for (number, condition) in conditions.enumerated() {
            #expect(try all.find(condition).count() == 1, "\(number) of \(value)", sourceLocation: sourceLocation)
            #expect(try all.find().and(condition).count() == 1, "\(number)", sourceLocation: sourceLocation)
        }
        #expect(try all.update(where: { $0.value == value }) { $0.append(\.list, value) }.matched == 1)
        #expect(try all.get(1)?.list == [value, value], sourceLocation: sourceLocation)
        try all.upsert(where: { $0.value == value && $0.id == 2 }) { $0.set(\.list, [value]) }
        #expect(try all.get(2)?.value == value, sourceLocation: sourceLocation)
        try all.ensureIndex("partial", on: \.id, where: { $0.value == value })
        #expect(
            try all.indexes().first { $0.name == "partial" }?.partialFilter == all.find { $0.value == value }.filter)
        if #available(macOS 14, *) {
            #expect(
                try all.find(#Predicate { $0.value == value }).count() == 2, "predicate of \(value)",
                sourceLocation: sourceLocation)
        }
        #expect(try all.remove { $0.value != value } == 0, sourceLocation: sourceLocation)
    }

    @Test("Values of BSON's own types are compared as they are stored", arguments: codings)
    func ownTypes(_ coding: BSONCodingStrategies) throws {
        try check(UInt64.max - 4, coding)
        try check(UInt.max, coding)
        if #available(macOS 15, *) {
            try check(Int128(1) << 70, coding)
            try check(UInt128(1) << 90, coding)
        }
        try check(try #require(Decimal128("1.25")), coding)
        try check(BSONValue.date(5), coding)
        try check(BSONValue.binary(BSONBinary(Data([3]))), coding)
        try check(BSONValue.decimal128(try #require(Decimal128("2.5"))), coding)
        try check(Instant(5), coding)
        try check(Duration.milliseconds(1500), coding)
        try check(Date(timeIntervalSince1970: 5.25), coding)
        try check(UUID(), coding)
        try check(Data([1, 2]), coding)
        try check(Decimal(9.5), coding)
    }

    @Test("Custom dates of any form are compared as they are stored, also those in documents")
    func customDates() throws {
        struct Event: Codable, Sendable, Identifiable {
            var id: Int
            var at: Date
        }
        func seconds(_ value: BSONValue) -> Double {
            switch value {
            case .date(let milliseconds): Double(milliseconds) / 1000
            case .document(let document): document["t"]?.doubleValue ?? 0
            case .binary(let binary): Double(String(decoding: binary.data, as: UTF8.self)) ?? 0
            default: value.doubleValue ?? 0
            }
        }
        let encodings: [@Sendable (Date) throws -> BSONValue] = [
            { .date(Int64($0.timeIntervalSince1970 * 1000)) }, { ["t": .double($0.timeIntervalSince1970)] },
            { .binary(BSONBinary(Data("\($0.timeIntervalSince1970)".utf8))) },
            { .decimal128(try #require(Decimal128("\($0.timeIntervalSince1970)"))) },
            { ["t": .double($0.timeIntervalSince1970), "d": .date(5)] },
        ]
        let time = Date(timeIntervalSince1970: 1000)
        for encode in encodings {
            // Stored an hour later.
            let coding = BSONCodingStrategies(
                date: .custom(
                    encode: { try encode($0 + 3600) },
                    decode: { value in
                        let known = try encode(Date(timeIntervalSince1970: 4600))
                        return value == known ? Date(timeIntervalSince1970: 1000) : Date(timeIntervalSince1970: 1)
                    }), data: .base64, decimal: .string)
            let events = try Database(.memory).collection("events", of: Event.self, coding: coding)
            try events.save(Event(id: 1, at: time))
            #expect(try events.find { $0.at == time }.count() == 1)
            #expect(try events.find(["at": ["$eq": BSONValue(time)]]).count() == 1)
            try events.update(["_id": 1], ["$set": ["at": BSONValue(time)]])
            #expect(try events.get(1)?.at == time)
            try events.update(where: { $0.at == time }) { $0.set(\.at, time) }
            #expect(try events.get(1)?.at == time)
        }
    }

    @Test(
        "Pages of values whose data or dates are stored without order",
        arguments: [SortDirection.ascending, .descending])
    func pages(_ direction: SortDirection) throws {
        struct Row: Codable, Sendable, Identifiable, Equatable {
            var id = ObjectID()
            var number: Int
            var isDone: Bool
            var text: String
            var data = Data([1])
            var at = Date(timeIntervalSince1970: 1)
        }
        let german = BSONDateStrategy.custom(
            encode: { .string("\($0)") }, decode: { _ in Date(timeIntervalSince1970: 1) })
        for coding in [BSONCodingStrategies.json, .init(data: .base64), .init(date: german)] {
            let rows = try Database(.memory).collection("rows", of: Row.self, coding: coding)
            for number in 0..<7 {
                try rows.save(Row(number: number / 2, isDone: number % 2 == 0, text: "\(number)"))
            }
            for query in [
                rows.find(), try rows.find().sorted(by: \.number, direction),
                try rows.find().sorted(by: \.isDone, direction), try rows.find().sorted(by: \.text, direction),
                try rows.find().sorted(by: \.id, direction),
            ] {
                var found: [Row] = []
                var token: Database.PageToken?
                repeat {
                    let page = try query.page(after: token, size: 3)
                    found += page.elements
                    token = page.next
                } while token != nil
                #expect(found.count == 7 && Set(found.map(\.id)).count == 7)
            }
        }
    }

    @Test("Values of types that are stored as arrays are not taken apart in silence")
    func distinctArrays() throws {
        let all = try Database(.memory).collection("all", of: Holder<Duration>.self)
        try all.save(Holder(id: 1, value: .seconds(1), optional: .seconds(2), list: [.seconds(3)]))
        for distinct in [
            { try all.find().distinct(\.value) }, { try all.find().distinct(\.optional) },
        ] as [() throws -> [Duration]] {
            let error = #expect(throws: TansuError.self) { try distinct() }
            #expect(error?.code == .invalidQuery && error?.message.contains("Duration") ?? false)
        }
        #expect(try all.find().groups(by: \.value, .count).map(\.0) == [.seconds(1)])
        #expect(try all.find().distinct(\.list) == [.seconds(3)])
    }

    @Test("An optional enum is one of some values, or nil")
    func optionalEnums() throws {
        enum Kind: String, Codable, Sendable { case a, b }
        struct Thing: Codable, Sendable, Identifiable {
            var id: Int
            var kind: Kind?
        }
        let things = try Database(.memory).collection("things", of: Thing.self)
        try things.save([Thing(id: 1, kind: .a), Thing(id: 2, kind: .b), Thing(id: 3)])
        #expect(try things.find { $0.kind.in([nil, .a]) }.all().map(\.id) == [1, 3])
        #expect(try things.find { $0.kind.in([.a, .b]) }.all().map(\.id) == [1, 2])
    }
}
