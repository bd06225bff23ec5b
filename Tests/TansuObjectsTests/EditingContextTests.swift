import Foundation
import Testing

@testable import TansuObjects

@Suite("Editing contexts")
struct EditingContextTests {
    let db: Database
    let tags: Database.Collection<Tag>

    init() throws {
        db = try Database(.memory)
        try db.use(libraryModel())
        tags = try db.collection(of: Tag.self)
        try tags.save((1...5).map { Tag(id: $0, name: "tag \($0)") })
    }

    @Test("A merge has the changes of both sides, of keys that Swift takes as equal too")
    func merging() {
        let (one, two) = ("caf\u{E9}", "cafe\u{301}")
        let base: BSONDocument = [one: 1, two: 1, "a": 1]
        let mine: BSONDocument = [one: 2, two: 3, "a": 1, "y": 1, "x": 1, "w": 1, "v": 1]
        let conflict = EditingConflict(
            key: ObjectKey(collection: "tags", id: 1), base: base, mine: mine, theirs: [one: 1, two: 1, "a": 2])
        #expect(conflict.merged() == [one: 2, two: 3, "a": 2, "y": 1, "x": 1, "w": 1, "v": 1])
    }

    @Test("Changes are stored when saved, in one commit, and not before")
    func save() async throws {
        let context = EditingContext(db)
        try await context.insert(Tag(id: 6, name: "six"))
        try await context.update(Tag.self, id: 1) { $0.name = "one" }
        #expect(try await context.remove(Tag.self, id: 2))
        #expect(await context.hasChanges)
        #expect(await context.insertedObjects == [ObjectKey(collection: "tags", id: 6)])
        #expect(try await context.updatedObjects(of: Tag.self) == [Tag(id: 1, name: "one")])
        #expect(try await context.removedObjects(of: Tag.self) == [Tag(id: 2, name: "tag 2")])
        #expect(try await tags.find().count() == 5)
        #expect(try await tags.get(1)?.name == "tag 1")

        var changes = db.changes().makeAsyncIterator()
        #expect(try await context.save() == 3)
        #expect(try await tags.find().sorted(by: "_id").all().map(\.name) == ["one", "tag 3", "tag 4", "tag 5", "six"])
        let sequences = [
            try await changes.next()?.sequence, try await changes.next()?.sequence, try await changes.next()?.sequence,
        ]
        #expect(Set(sequences).count == 1)
        #expect(await !context.hasChanges)
        #expect(try await context.save() == 0)
    }

    @Test("A context that is dropped or discarded writes nothing")
    func dropped() async throws {
        do {
            let context = EditingContext(db, autosave: .after(.seconds(3600)))
            try await context.insert(Tag(id: 6, name: "six"))
        }
        let context = EditingContext(db)
        try await context.remove(Tag.self, id: 1)
        await context.discard()
        #expect(await !context.hasChanges)
        try await context.save()
        #expect(try await tags.find().count() == 5)
        #expect(try await context.get(Tag.self, id: 1)?.name == "tag 1")
    }

    @Test("Queries see unsaved changes over what is stored, in the order of the query")
    func queries() async throws {
        let context = EditingContext(db)
        try await context.insert(Tag(id: 6, name: "aaa"))
        try await context.update(Tag.self, id: 2) { $0.name = "zzz" }
        try await context.remove(Tag.self, id: 3)
        let all = try await context.fetch(tags.find().sorted(by: \.name))
        #expect(all.map(\.id) == [6, 1, 4, 5, 2])
        #expect(try await context.fetch(tags.find { $0.name.hasPrefix("tag") }).map(\.id) == [1, 4, 5])
        #expect(try await context.fetch(tags.find().sorted(by: \.name, .descending).limit(2)).map(\.id) == [2, 5])
        // Nothing of it was stored.
        #expect(try await tags.find().count() == 5)
        #expect(try await tags.get(6) == nil)
        #expect(try await tags.get(3) != nil)
        #expect(try await context.get(Tag.self, id: 3) == nil)
        #expect(try await context.get(Tag.self, id: 2)?.name == "zzz")
    }

    @Test("Fields that the type does not have are kept")
    func unknownFields() async throws {
        try await db.collection("tags").save(["_id": 9, "name": "nine", "colour": "red", "nested": ["a": 1]])
        let context = EditingContext(db)
        try await context.update(Tag(id: 9, name: "NINE"))
        try await context.save()
        #expect(
            try await db.collection("tags").get(9) == ["_id": 9, "name": "NINE", "colour": "red", "nested": ["a": 1]])
    }

    @Test("A document that someone else has changed is a conflict that names both versions")
    func conflict() async throws {
        let context = EditingContext(db)
        try await context.update(Tag.self, id: 1) { $0.name = "mine" }
        try await context.update(Tag.self, id: 2) { $0.name = "mine" }
        try await tags.save(Tag(id: 1, name: "theirs"))
        let error = await #expect(throws: EditingConflictError.self) { try await context.save() }
        let conflict = try #require(error?.conflicts.first)
        #expect(error?.conflicts.count == 1)
        #expect(conflict.key == ObjectKey(collection: "tags", id: 1))
        #expect(conflict.base?["name"] == "tag 1")
        #expect(conflict.mine?["name"] == "mine")
        #expect(conflict.theirs?["name"] == "theirs")
        #expect(try await tags.get(2)?.name == "tag 2", "nothing of a save that fails is stored")
        #expect(await context.updatedObjects.count == 2)
    }

    enum Their: CaseIterable { case change, remove }

    @Test("Each policy resolves conflicts as it says", arguments: Their.allCases)
    func policies(their: Their) async throws {
        func conflicting(_ policy: EditingConflictPolicy) async throws -> EditingContext {
            try await tags.save(Tag(id: 1, name: "tag 1"))
            let context = EditingContext(db, conflicts: policy)
            try await context.update(Tag.self, id: 1) { $0.name = "mine" }
            switch their {
            case .change: try await tags.save(Tag(id: 1, name: "theirs"))
            case .remove: try await tags.remove(id: 1)
            }
            return context
        }
        try await conflicting(.mine).save()
        #expect(try await tags.get(1)?.name == "mine")

        let theirs = try await conflicting(.theirs)
        try await theirs.save()
        #expect(try await tags.get(1)?.name == (their == .change ? "theirs" : nil))
        #expect(try await theirs.get(Tag.self, id: 1)?.name == (their == .change ? "theirs" : nil))
        #expect(await !theirs.hasChanges)

        let merging = try await conflicting(.mergeFields)
        await #expect(throws: EditingConflictError.self, "both changed one field") { try await merging.save() }

        let asking = try await conflicting(
            .ask { conflict in
                #expect(conflict.mine?["name"] == "mine")
                return .merged(["_id": 1, "name": "both"])
            })
        try await asking.save()
        #expect(try await tags.get(1)?.name == "both")
        #expect(try await asking.get(Tag.self, id: 1)?.name == "both")
    }

    @Test("A conflict that changes once more while it is asked about is asked about again")
    func askedAgain() async throws {
        let (tags, asked) = (tags, Counter())
        let context = EditingContext(
            db,
            conflicts: .ask { conflict in
                if await asked.next() < 3 { try await tags.save(Tag(id: 1, name: "again \(await asked.count)")) }
                return .mine
            })
        try await context.update(Tag.self, id: 1) { $0.name = "mine" }
        try await tags.save(Tag(id: 1, name: "theirs"))
        try await context.save()
        #expect(await asked.count == 3)
        #expect(try await tags.get(1)?.name == "mine")
    }

    @Test("Changes of different fields are merged, at any depth")
    func merging() async throws {
        try await db.collection("tags").save(["_id": 9, "name": "nine", "more": ["a": 1, "b": 1, "gone": 1]])
        let context = EditingContext(db, conflicts: .mergeFields)
        try await context.update(Tag.self, id: 9) { $0.name = "mine" }
        try await db.collection("tags").save(["_id": 9, "name": "nine", "more": ["a": 1, "b": 2], "new": true])
        try await context.save()
        #expect(
            try await db.collection("tags").get(9) == [
                "_id": 9, "name": "mine", "more": ["a": 1, "b": 2], "new": true,
            ])
    }

    @Test("Inserting what is stored already is a conflict, and the same on both sides is none")
    func sameChange() async throws {
        let context = EditingContext(db)
        try await context.insert(Tag(id: 1, name: "other"))
        await #expect(throws: EditingConflictError.self) { try await context.save() }
        await context.discard()
        try await context.insert(Tag(id: 1, name: "tag 1"))
        try await context.remove(Tag.self, id: 2)
        try await tags.remove(id: 2)
        #expect(try await context.save() == 0)
        #expect(await !context.hasChanges)
    }

    @Test("Undo and redo go back and forth, by groups and across saves")
    func undo() async throws {
        let context = EditingContext(db)
        try await context.insert(Tag(id: 6, name: "six"))
        try await context.groupingUndo { context in
            try await context.update(Tag.self, id: 1) { $0.name = "one" }
            try await context.remove(Tag.self, id: 2)
            await #expect(throws: TansuError.self) { try await context.undo() }
        }
        try await context.save()
        #expect(try await context.undo())
        #expect(try await context.get(Tag.self, id: 1)?.name == "tag 1")
        #expect(try await context.get(Tag.self, id: 2)?.name == "tag 2")
        #expect(try await tags.get(2) == nil, "not saved yet")
        try await context.save()
        #expect(try await tags.get(1)?.name == "tag 1")
        #expect(try await tags.get(2)?.name == "tag 2")
        #expect(try await context.undo())
        #expect(try await !context.undo())
        #expect(await !context.canUndo)
        #expect(await context.canRedo)
        try await context.redo()
        try await context.redo()
        #expect(try await !context.redo())
        try await context.save()
        #expect(try await tags.find().sorted(by: "_id").all().map(\.name) == ["one", "tag 3", "tag 4", "tag 5", "six"])
        try await context.undo()
        try await context.update(Tag.self, id: 5) { $0.name = "five" }
        #expect(await !context.canRedo, "a new change ends what can be redone")
    }

    @Test("Undo keeps what others have changed in the document meanwhile")
    func undoAfterReload() async throws {
        try await db.collection("tags").save(["_id": 9, "name": "nine", "n": 1])
        let context = EditingContext(db)
        try await context.update(Tag.self, id: 9) { $0.name = "mine" }
        try await context.save()
        try await db.collection("tags").save(["_id": 9, "name": "mine", "n": 2])
        try await context.reload()
        try await context.undo()
        try await context.save()
        #expect(try await db.collection("tags").get(9) == ["_id": 9, "name": "nine", "n": 2])
    }

    @Test("No more groups are kept than can be undone")
    func undoLevels() async throws {
        let context = EditingContext(db, undoLevels: 2)
        for number in 1...5 { try await context.update(Tag.self, id: 1) { $0.name = "\(number)" } }
        try await context.undo()
        try await context.undo()
        #expect(try await !context.undo())
        #expect(try await context.get(Tag.self, id: 1)?.name == "3")
    }

    @Test("Reloading keeps unsaved changes, and their conflicts")
    func reload() async throws {
        let context = EditingContext(db)
        _ = try await context.fetch(tags.find())
        try await context.update(Tag.self, id: 1) { $0.name = "mine" }
        try await tags.save([Tag(id: 1, name: "theirs"), Tag(id: 2, name: "theirs")])
        try await tags.remove(id: 3)
        #expect(try await context.get(Tag.self, id: 2)?.name == "tag 2", "as it was fetched")
        try await context.reload()
        #expect(try await context.get(Tag.self, id: 1)?.name == "mine")
        #expect(try await context.get(Tag.self, id: 2)?.name == "theirs")
        #expect(try await context.get(Tag.self, id: 3) == nil)
        await #expect(throws: EditingConflictError.self) { try await context.save() }
    }

    @Test("Autosave saves after that many changes, or after a time")
    func autosave() async throws {
        let counting = EditingContext(db, autosave: .every(3))
        try await counting.insert(Tag(id: 6, name: "six"))
        try await counting.insert(Tag(id: 7, name: "seven"))
        #expect(try await tags.find().count() == 5)
        try await counting.insert(Tag(id: 8, name: "eight"))
        #expect(try await tags.find().count() == 8)

        let waiting = EditingContext(db, autosave: .after(.milliseconds(20)))
        try await waiting.insert(Tag(id: 9, name: "nine"))
        while try await tags.get(9) == nil { try await Task.sleep(for: .milliseconds(5)) }
        try await tags.save(Tag(id: 9, name: "theirs"))
        try await waiting.update(Tag.self, id: 9) { $0.name = "mine" }
        while await waiting.autosaveError == nil { try await Task.sleep(for: .milliseconds(5)) }
        #expect(await waiting.autosaveError is EditingConflictError)
        #expect(await waiting.hasChanges)
    }

    @Test("Saves at once are one after another, and conflict with nothing of their own")
    func concurrentSaves() async throws {
        let context = EditingContext(db)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<50 {
                group.addTask {
                    try await context.update(Tag.self, id: 1 + number % 5) { $0.name += "." }
                    try await context.save()
                }
            }
            try await group.waitForAll()
        }
        #expect(await !context.hasChanges)
        #expect(try await tags.find().all().allSatisfy { $0.name.hasSuffix("..........") })
    }

    @Test("A context after its database is closed, without a model, or for another type throws typed errors")
    func badUse() async throws {
        let closed = try Database(.memory)
        try await closed.use(libraryModel())
        let context = EditingContext(closed)
        try await context.insert(Tag(id: 1, name: "one"))
        try await closed.close()
        let error = await #expect(throws: TansuError.self) { try await context.save() }
        #expect(error?.code == .closed)
        #expect(await context.hasChanges, "nothing is lost")

        let plain = EditingContext(try Database(.memory))
        #expect(await code { try await plain.insert(Tag(id: 1, name: "")) } == .invalidState)

        struct Other: Codable, Sendable, Identifiable { var id: Int }
        let other = EditingContext(db)
        #expect(await code { try await other.insert(Other(id: 1)) } == .invalidArgument)
        #expect(await code { try await other.update(Tag(id: 77, name: "")) } == .notFound)
        let projected = tags.find().fields(["name": 1])
        #expect(await code { _ = try await other.fetch(projected) } == .invalidQuery)
    }
}

/// The code of the error that the closure throws; `nil` when it throws none.
func code(_ body: () async throws -> Void) async -> TansuError.Code? {
    do {
        try await body()
        return nil
    } catch {
        return (error as? TansuError)?.code
    }
}

actor Counter {
    private(set) var count = 0

    func next() -> Int {
        count += 1
        return count
    }
}
