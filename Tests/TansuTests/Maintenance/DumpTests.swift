import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Dump and load")
struct DumpTests {
    private struct Enough: Error {}

    private func text(_ db: Database, _ options: Database.DumpOptions = .init()) throws -> [UInt8] {
        var text: [UInt8] = []
        try db.dump(options, into: { text += $0 })
        return text
    }

    /// Gives bytes in pieces of a size.
    private func pieces(_ bytes: [UInt8], of size: Int) -> () -> [UInt8] {
        var rest = bytes[...]
        return {
            defer { rest = rest.dropFirst(size) }
            return Array(rest.prefix(size))
        }
    }

    @Test("What is dumped is loaded as it was, in pieces of any size", arguments: [1, 7, 1 << 20])
    func roundTrip(size: Int) throws {
        let (db, people) = try fourPeople()
        try people.save(["_id": .int64(5), "date": .double(5), "bytes": .double(1)])
        try people.ensureIndex("n", on: ["name": .ascending], unique: true, sparse: true)
        let text = try text(db)
        let copy = try Database(.memory)
        let report = try copy.load(from: pieces(text, of: size))
        #expect(report.documents == 5 && report.collections == 1 && report.indexes == 1)
        #expect(try copy.collection("people").find().all() == people.find().all())
        #expect(try copy.collection("people").indexes() == people.indexes())
    }

    @Test("A dump goes to a new file, and comes from there")
    func files() async throws {
        let folder = try TemporaryFolder()
        let (db, people) = try fourPeople()
        let report = try await db.dump(to: folder.path("d"))
        #expect(try Data(contentsOf: URL(fileURLWithPath: folder.path("d"))).count == report.bytes)
        #expect(try code { try db.dump(to: folder.path("d")) } == .exists)
        #expect(try code { try db.dump(to: folder.path("none/d")) } == .io)
        let copy = try Database(.memory)
        try await copy.load(from: folder.path("d"))
        #expect(try await copy.collection("people").find().all() == people.find().all())
        #expect(try code { try copy.load(from: folder.path("none")) } == .notFound)
        #expect(try code { try copy.load(from: folder.url.path) } == .io)
    }

    @Test("A dump has the collections and documents that were asked for")
    func options() throws {
        let (db, _) = try fourPeople()
        try db.collection("other").save(["_id": 1])
        let copy = try Database(.memory)
        try copy.load(from: pieces(text(db, .init(collections: ["people"], query: ["age": 35])), of: 100))
        #expect(try copy.collectionNames() == ["people"])
        #expect(try copy.collection("people").count() == 2)
        #expect(try code { try text(db, .init(collections: ["none"])) } == .notFound)
    }

    @Test("The mode determines what happens to a document whose _id exists")
    func modes() throws {
        let lines = Array("{\"_id\": 1, \"new\": true}\n{\"_id\": 9}\n".utf8)
        let (db, people) = try fourPeople()
        #expect(try code { try db.load(.init(collection: "people"), from: pieces(lines, of: 9)) } == .exists)
        let skipped = try db.load(.init(collection: "people", mode: .skip), from: pieces(lines, of: 9))
        #expect(skipped.skipped == 1 && skipped.documents == 1)
        #expect(try people.get(1)?["new"] == nil)
        try db.load(.init(collection: "people", mode: .save), from: pieces(lines, of: 9))
        #expect(try people.get(1)?["new"] == true)
    }

    @Test("The error for an invalid line has its number; an atomic load is rolled back")
    func badLine() throws {
        let lines = Array("{\"_id\": 1}\nnonsense\n".utf8)
        let db = try Database(.memory)
        do {
            try db.load(.init(collection: "a", atomic: true), from: pieces(lines, of: 100))
            Issue.record("a bad line was loaded")
        } catch let error as TansuError {
            #expect(error.code == .invalidJSON && error.offset == 2)
        }
        #expect(try db.collection("a").count() == 0)
        #expect(try code { try db.load(from: pieces(lines, of: 100)) } != nil)
    }

    @Test("What a closure throws ends the work and is rethrown, and a partial file is removed")
    func stopped() async throws {
        let folder = try TemporaryFolder()
        let (db, _) = try fourPeople()
        #expect(throws: Enough.self) { try db.dump(into: { _ in throw Enough() }) }
        #expect(throws: Enough.self) { try db.load(from: { throw Enough() }) }
        #expect(throws: Enough.self) { try db.dump(to: folder.path("d")) { _ in throw Enough() } }
        await #expect(throws: Enough.self) { try await db.dump(to: folder.path("d")) { _ in throw Enough() } }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path).isEmpty)
    }

    @Test("A dump has its name only when it is complete, and replaces what a killed one left")
    func staged() throws {
        let folder = try TemporaryFolder()
        let (db, _) = try fourPeople()
        let path = folder.path("d")
        try Data("the part of another dump that is longer than this one".utf8)
            .write(to: URL(fileURLWithPath: path + ".tansu-part"))
        var (calls, busy) = (0, 0)
        try db.dump(to: path) { _ in
            calls += 1
            #expect(!FileManager.default.fileExists(atPath: path))
            if try code({ try db.dump(to: path) }) == .busy { busy += 1 }
        }
        #expect(calls > 0 && busy == calls)
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["d"])
        let copy = try Database(.memory)
        #expect(try copy.load(from: path).documents == 4)
    }

    @Test("Loading inside a write that awaits is rejected instead of a deadlock")
    func insideWrite() async throws {
        let (db, _) = try fourPeople()
        try await db.write { _ in
            await #expect(throws: TansuError.self) { try await db.load(.init(collection: "a"), from: { [] }) }
        }
    }
}
