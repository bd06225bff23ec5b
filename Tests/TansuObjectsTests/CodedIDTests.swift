import Foundation
import TansuObjects
import Testing

/// Ids that a coding strategy stores in another form are found by every call that takes one.
@Suite("Ids under coding strategies")
struct CodedIDTests {
    typealias ID = Codable & Hashable & Sendable

    struct Thing<Key: ID>: Codable, Sendable, Identifiable, Equatable {
        var id: Key
        var name: String
    }

    struct Link<Key: ID>: Codable, Sendable, Identifiable {
        var id: Key
        var thing: Reference<Thing<Key>>?
        var things: [Reference<Thing<Key>>] = []
    }

    struct Compound: Codable, Hashable, Sendable { var key: UUID; var since: Date; var bytes: Data; var price: Decimal }
    struct Raw: RawRepresentable, Codable, Hashable, Sendable { var rawValue: UUID }

    static let codings: [BSONCodingStrategies] = [
        BSONCodingStrategies(), .json,
        BSONCodingStrategies(date: .iso8601, data: .base64, uuid: .string, url: .deferredToURL, decimal: .string),
        BSONCodingStrategies(date: .secondsSince1970, uuid: .string, decimal: .double),
        BSONCodingStrategies(date: .millisecondsSince1970, data: .base64),
        BSONCodingStrategies(
            date: .custom(
                encode: { .string("d\($0.timeIntervalSince1970)") },
                decode: { Date(timeIntervalSince1970: Double($0.stringValue?.dropFirst() ?? "") ?? 0) })),
    ]

    @Test(arguments: codings.indices)
    func everyCall(_ number: Int) async throws {
        let coding = Self.codings[number]
        try await surface((0..<4).map { _ in UUID() }, coding)
        try await surface((0..<4).map { Data([UInt8($0), 255]) }, coding)
        try await surface((0..<4).map { Decimal($0) + Decimal(sign: .plus, exponent: -1, significand: 5) }, coding)
        try await surface((0..<4).map { Date(timeIntervalSince1970: Double($0) / 4) }, coding)
        try await surface((0..<4).compactMap { URL(string: "https://example.com/\($0)") }, coding)
        try await surface((0..<4).map { _ in Raw(rawValue: UUID()) }, coding)
        try await surface(
            (0..<4).map { Compound(key: UUID(), since: .init(timeIntervalSince1970: 5), bytes: Data([$0]), price: 1) },
            coding)
        try await surface(["a", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F", "1", "2001-01-01T00:00:00Z"], coding)
        try await surface([1, 2, 3, Int.max], coding)
    }

    private func surface<Key: ID>(
        _ ids: [Key], _ coding: BSONCodingStrategies, sourceLocation: SourceLocation = #_sourceLocation
    ) async throws {
        typealias T = Thing<Key>
        typealias L = Link<Key>
        let db = try await Database.open(.memory)
        try await db.use(
            Model {
                Entity("things", of: T.self, coding: coding)
                Entity("links", of: L.self, coding: coding)
                    .reference(\.thing, to: "things", onDelete: .cascade)
                    .reference(\.things, to: "things", onDelete: .nullify)
            })
        let (all, things, links) = (
            ids.enumerated().map { T(id: $1, name: "\($0)") }, try db.collection(of: T.self),
            try db.collection(of: L.self)
        )
        let (one, other) = (all[0], all[1])
        let link = L(id: ids[2], thing: Reference(to: one), things: [Reference(to: other), Reference(to: one)])
        func expect(_ holds: Bool, _ call: String) {
            #expect(holds, "\(call) of \(Key.self)", sourceLocation: sourceLocation)
        }
        expect(try await db.save(graph: [one, other, link]) == 3, "save(graph:)")
        expect(try await db.save(graph: [one, other, link]) == 0, "save(graph:) again")

        expect(try things.syncGet(one.id) == one, "get")
        expect(try await things.get(one.id) == one, "get async")
        expect(try things.syncGet(ids: [other.id, ids[3], one.id]) == [other, one], "get(ids:)")
        expect(try await things.get(ids: [other.id, ids[3], one.id]) == [other, one], "get(ids:) async")
        expect(try await things.find { $0.name == one.name }.all() == [one], "find")
        expect(try await links.find { $0.thing.name == one.name }.count() == 1, "a query through a reference")
        expect(try await links.find().including(\.thing).all().map(\.1) == [one], "including")
        expect(try await links.find().including(all: \.things).all().map(\.1) == [[other, one]], "including(all:)")
        expect(
            try await things.find().including(all: \L.thing).all().map { $0.1.count }.reduce(0, +) == 1,
            "including referrers")
        expect(
            try await things.find().annotated(with: .count(\L.thing)).all().map(\.1).reduce(0, +) == 1, "annotated")
        expect(try await link.thing?.resolve(in: db) == one, "resolve")
        expect(try await link.things.resolved(in: db).count == 2, "resolved")
        let bag = try db.bag("bag")
        expect(try await bag.add([one, other]) == 2, "bag.add")
        expect(try await bag.contains(one), "bag.contains")
        expect(try await bag.objects(of: T.self) == [one, other], "bag.objects")
        expect(try await bag.find(T.self).count() == 2, "bag.find")
        expect(try await bag.remove([other]) == 1, "bag.remove")

        let context = EditingContext(db)
        expect(try await context.get(T.self, id: one.id) == one, "context.get")
        expect(try await context.update(T.self, id: one.id) { $0.name = "b" }?.name == "b", "context.update")
        expect(try await context.fetch(things.find()).count == 2, "context.fetch")
        try await context.insert(all[3])
        expect(try await context.get(T.self, id: all[3].id) == all[3], "context.get of an inserted one")
        expect(try await context.remove(T.self, id: other.id), "context.remove")
        expect(try await context.save() == 3, "context.save")
        expect(try await things.get(one.id)?.name == "b", "what the context saved")
        expect(try await things.get(all[3].id) == all[3], "what the context inserted")
        expect(try await links.get(link.id)?.things.map(\.id) == [one.id], "nullify")

        expect(try things.syncUpdate(one.id, "c")?.name == "c", "update(id:)")
        expect(try await things.update(id: one.id) { $0.name = "d" }?.name == "d", "update(id:) async")
        expect(try await db.write { try $0.collection(of: T.self).syncGet(one.id) }?.name == "d", "in a transaction")
        expect(try things.syncRemove(all[3].id), "remove(id:)")
        expect(try await things.remove(id: one.id), "remove(id:) async")
        expect(try await things.find().count() == 0, "count")
        expect(try await links.find().count() == 0, "cascade")
    }

    @Test("A reference between collections that store its id in different forms is refused by the model")
    func differentForms() throws {
        typealias T = Thing<UUID>
        typealias L = Link<UUID>
        let texts = BSONCodingStrategies(uuid: .string)
        let error = #expect(throws: TansuError.self) {
            try Model {
                Entity("things", of: T.self, coding: texts)
                Entity("links", of: L.self).reference(\.thing, to: "things")
            }
        }
        #expect(error?.code == .invalidArgument)
        #expect(error?.message.contains("coding strategies") ?? false)
        #expect(throws: TansuError.self) {
            try Model {
                Entity("things", of: Thing<Compound>.self, coding: texts)
                Entity("links", of: Link<Compound>.self).reference(\.thing, to: "things")
            }
        }
        // What the id does not have may differ.
        _ = try Model {
            Entity("things", of: T.self, coding: BSONCodingStrategies(date: .iso8601, data: .base64))
            Entity("links", of: L.self).reference(\.thing, to: "things")
        }
        _ = try Model {
            Entity("things", of: Thing<String>.self, coding: .json)
            Entity("links", of: Link<String>.self).reference(\.thing, to: "things")
        }
    }
}

// The synchronous calls, in asynchronous tests.
extension Database.Collection where Element: Identifiable & Codable, Element.ID: Codable & Hashable & Sendable {
    fileprivate func syncGet(_ id: Element.ID) throws -> Element? { try get(id) }
    fileprivate func syncGet(ids: [Element.ID]) throws -> [Element] { try get(ids: ids) }
    fileprivate func syncRemove(_ id: Element.ID) throws -> Bool { try remove(id: id) }
    fileprivate func syncUpdate<Key>(
        _ id: Element.ID, _ name: String
    ) throws -> Element? where Element == CodedIDTests.Thing<Key> { try update(id: id) { $0.name = name } }
}
