import Foundation
import Tansu
import TansuObjects
import Testing

@Suite("Timestamps of values with coding strategies")
struct CodedTimestampTests {
    private struct Note: Codable, Sendable, Identifiable {
        var id: Int
        var text = ""
        var createdAt: Date?
        var updatedAt: Date?
    }

    private func database(_ date: BSONDateStrategy) throws -> Database {
        let db = try Database(.memory)
        try db.use(Model { Entity("notes", of: Note.self, coding: BSONCodingStrategies(date: date)).timestamps() })
        return db
    }

    @Test(
        "They are read and compared whatever dates are stored as",
        arguments: [
            .iso8601, .secondsSince1970, .millisecondsSince1970, .deferredToDate,
            .custom(
                encode: { .string("\($0.timeIntervalSince1970)") },
                decode: { value in
                    guard let seconds = value.stringValue.flatMap(Double.init) else {
                        throw CocoaError(.coderReadCorrupt)
                    }
                    return Date(timeIntervalSince1970: seconds)
                }),
        ] as [BSONDateStrategy])
    func dates(_ strategy: BSONDateStrategy) throws {
        let db = try database(strategy)
        let notes = try db.collection(of: Note.self)
        try notes.save(Note(id: 1))
        let created = try #require(try notes.get(1)?.createdAt)
        let past = Date(timeIntervalSince1970: 0)
        #expect(try notes.find { $0.createdAt == created }.count() == 1)
        #expect(try notes.find { $0.createdAt > past && $0.updatedAt >= created }.count() == 1)
        #expect(try notes.find { $0.createdAt < past || $0.createdAt == nil }.count() == 0)
        #expect(try notes.find { $0.createdAt.in([created, past]) }.count() == 1)
        #expect(try notes.find(["createdAt": ["$gt": BSONValue(past)]]).count() == 1)
        #expect(try notes.find(["createdAt": BSONValue(created)]).count() == 1)
        #expect(try notes.update(id: 1) { $0.text = "new" }?.createdAt == created)
        #expect(try notes.update(where: { $0.createdAt == created }) { $0.set(\.text, "b") }.modified == 1)
        #expect(try db.save(graph: [try #require(try notes.get(1))]) == 0)
        #expect(try notes.find().all().map(\.text) == ["b"])
        if #available(macOS 14, *) {
            #expect(try notes.find(#Predicate { $0.createdAt == created }).count() == 1)
        }
    }

    @Test("A strategy that stores other dates is refused")
    func shifted() throws {
        let strategy = BSONDateStrategy.custom(
            encode: { BSONValue($0 + 3600) }, decode: { ($0.dateValue ?? .distantPast) - 3600 })
        let error = #expect(throws: TansuError.self) { try database(strategy) }
        #expect(error?.code == .invalidArgument)
    }
}
