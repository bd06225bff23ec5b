import Tansu
import Testing

@Suite("Unique indexes on what is stored as an array")
struct UniqueArrayIndexTests {
    private struct Track: Codable, Sendable, Identifiable {
        var id: Int
        var length: Duration = .zero
        var range: Range<Int>?
        var tags: [String] = []
    }

    private func refuses(_ body: () throws -> Void, sourceLocation: SourceLocation = #_sourceLocation) {
        let error = #expect(throws: TansuError.self, sourceLocation: sourceLocation) { try body() }
        #expect(error?.code == .invalidIndex, sourceLocation: sourceLocation)
        #expect(error?.message.contains("stored as arrays") ?? false, sourceLocation: sourceLocation)
    }

    @Test("They are refused where their elements would be compared instead of the values")
    func refused() throws {
        let db = try Database(.memory)
        let tracks = try db.collection("tracks", of: Track.self)
        refuses { try tracks.ensureIndex(on: \.length, unique: true) }
        refuses { try tracks.ensureIndex(on: \.id, \.range, unique: true) }
        refuses { try tracks.ensureIndex(on: ["length": .ascending], unique: true) }
        refuses { _ = try db.collection("tracks", of: Track.self, indexes: [.init(on: \.range, unique: true)]) }
        refuses {
            _ = try db.collection("tracks", of: Track.self, indexes: [.init(on: ["range": .ascending], unique: true)])
        }
        #expect(try tracks.indexes().isEmpty)
    }

    @Test("Others on them, and unique ones on arrays of Swift, are not")
    func allowed() throws {
        let tracks = try Database(.memory).collection("tracks", of: Track.self)
        try tracks.ensureIndex(on: \.length)
        try tracks.ensureIndex(on: \.tags, unique: true)
        try tracks.save(Track(id: 1, length: .seconds(1), tags: ["a"]))
        try tracks.save(Track(id: 2, length: .seconds(2), tags: ["b"]))
        #expect(throws: TansuError.self) { try tracks.save(Track(id: 3, tags: ["b"])) }
        #expect(try tracks.count() == 2)
    }
}
