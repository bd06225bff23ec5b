@preconcurrency import Foundation
import Tansu
import TansuObjects
import TansuTestSupport
import Testing

/// Foundation's description of such a date ends the process, so that each test also prints the error.
@Suite("Dates that are NaN")
struct NaNDateTests {
    struct Event: Codable, Sendable, Identifiable {
        var id: Int
        var start: Date
        var end: Date?
        var others: [Date] = []
    }

    struct Day: Codable, Sendable, Identifiable {
        var id: Date
        var name: String
    }

    private let noDate = Date(timeIntervalSince1970: .nan)
    private let db: Database
    private let events: Database.Collection<Event>

    init() throws {
        db = try Database(.memory)
        events = try db.collection("events", of: Event.self)
        try events.save(Event(id: 1, start: Date(timeIntervalSince1970: 0)))
    }

    private func code(_ body: () throws -> Void) -> TansuError.Code? {
        let error = #expect(throws: TansuError.self, performing: body)
        #expect(error.map { "\($0)".contains("NaN") } == true, "\(error as Any)")
        return error?.code
    }

    @Test("In a condition they are an error")
    func conditions() throws {
        #expect(code { _ = try events.find { $0.start > noDate } } == .invalidQuery)
        #expect(code { _ = try events.find { $0.end == noDate } } == .invalidQuery)
        #expect(code { _ = try events.find { $0.start.in([Date(), noDate]) } } == .invalidQuery)
        #expect(code { _ = try events.find { $0.others == [noDate] } } == .invalidQuery)
        #expect(code { _ = try events.find { $0.others.contains(noDate) } } == .invalidQuery)
    }

    @Test("In a predicate they are an error, also where that cannot be translated")
    @available(macOS 14, iOS 17, tvOS 17, watchOS 10, *)
    func predicates() throws {
        let noDate = noDate
        #expect(code { _ = try events.find(#Predicate { $0.start > noDate }) } == .invalidQuery)
        let error = #expect(throws: TansuError.self) {
            try events.find(#Predicate { $0.start > noDate && $0.others.first == noDate })
        }
        #expect(try !"\(#require(error))".isEmpty)
        let untranslatable = #expect(throws: TansuError.self) {
            try events.find(#Predicate { $0.others.allSatisfy { ($0 == noDate) == ($0 < noDate) } })
        }
        #expect(try !"\(#require(untranslatable))".isEmpty)
    }

    @Test("In an update they are an error, and change nothing")
    func updates() throws {
        #expect(code { try events.update(where: { $0.id == 1 }) { $0.set(\.start, noDate) } } == .invalidQuery)
        #expect(code { try events.update(where: { $0.id == 1 }) { $0.set(\.others, [noDate]) } } == .invalidQuery)
        #expect(code { try events.upsert(where: { $0.id == 2 }) { $0.setOnInsert(\.end, noDate) } } == .invalidQuery)
        let error = #expect(throws: EncodingError.self) { try events.update(id: 1) { $0.end = noDate } }
        #expect(try "\(#require(error))".contains("NaN"))
        #expect(try events.get(1)?.start == Date(timeIntervalSince1970: 0))
    }

    @Test("As an id they are an error")
    func ids() throws {
        let days = try db.collection("days", of: Day.self)
        #expect(code { _ = try days.get(noDate) } == .invalidID)
        #expect(code { _ = try days.get(ids: [Date(), noDate]) } == .invalidID)
        #expect(code { try days.remove(id: noDate) } == .invalidID)
        #expect(!"\(Reference<Day>(id: noDate))".isEmpty)
    }

    @Test("A document with one is not saved, and the error can be printed")
    func saving() throws {
        let event = Event(id: 2, start: noDate)
        for call in [{ try events.save(event) }, { try events.insert(event) }, { try events.replace(event) }] {
            let error = #expect(throws: EncodingError.self) { _ = try call() }
            #expect(try "\(#require(error))".contains("NaN"))
        }
        let outcome = try events.bulk([.save(event)]).first
        #expect(try "\(#require(outcome?.error))".contains("NaN"))
        #expect(throws: EncodingError.self) { try events.bulk([.save(event)], policy: .allOrNothing) }
        #expect(try events.count() == 1)
    }

    @Test("A query by the date of a save takes no such date")
    func timestamps() throws {
        try db.setTimestamps(Database.Timestamps(), of: "events")
        #expect(code { _ = try events.find(savedAfter: noDate) } == .invalidArgument)
        #expect(code { _ = try events.find(savedBefore: noDate) } == .invalidArgument)
        for seconds in [Double.nan, .infinity, -.infinity] {
            let error = #expect(throws: TansuError.self) {
                try events.find(savedOn: Date(timeIntervalSince1970: seconds))
            }
            #expect(error?.code == .invalidArgument)
        }
        #expect(try events.find(savedAfter: .distantPast).count() == events.find(savedBefore: .distantFuture).count())
    }
}
