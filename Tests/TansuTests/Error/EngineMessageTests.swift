import Foundation
import Testing

@testable import Tansu

@Suite("The engine's messages in Swift")
struct EngineMessageTests {
    @Test("No message names a function, a constant or an option of C, and no place begins with options.")
    func names() throws {
        let db = try Database(.memory)
        let people = try db.collection("people")
        try people.save(["_id": 1])
        let calls: [() throws -> Void] = [
            { _ = try people.find([:], hints: ["$index": "no"]).all() },
            { try people.dropIndex("no") },
            { _ = try db.dump(.init(collections: ["people", "others"], query: ["a": 1]), into: { _ in }) },
            { _ = try db.read { try $0.collection("people").save(["_id": 2]) } },
            { _ = try Database(.memory, options: .init(segmentSize: 1)) },
            { _ = try Database(.memory, options: .init(sortMemoryBytes: 1)) },
            { _ = try Database(.memory, options: .init(groupMemoryBytes: 1)) },
            { _ = try Database(.memory, options: .init(compactionPercent: 200)) },
            { _ = try Database(.memory, options: .init(compactionShare: 200)) },
            { _ = try Database(.memory, options: .init(follow: true)) },
            { _ = try Database(.memory, options: .init(durability: .interval(.zero))) },
        ]
        var seen = 0
        for call in calls {
            do { try call() } catch let error as TansuError {
                seen += 1
                #expect(!error.description.contains("tansu_"), "\(error)")
                #expect(!error.description.contains("TANSU_"), "\(error)")
                #expect(!error.description.contains("options."), "\(error)")
                #expect(!error.message.contains("_"), "\(error)")
            }
        }
        #expect(seen >= calls.count - 1)
    }

    @Test("A name of the user's stays as it is")
    func ownNames() {
        #expect(EngineMessages.translated("No \"segment_size\" is here") == "No \"segment_size\" is here")
        #expect(EngineMessages.translated(context: "options.query") == "query")
        #expect(EngineMessages.translated(context: "my.options.query") == "my.options.query")
    }
}
