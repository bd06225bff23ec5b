import Foundation
import Tansu
import TansuObjects
import TansuTestSupport
import Testing

private struct Folder: Codable, Sendable, Identifiable, Hashable {
    var id: Int
    var name = ""
}

/// A type of a user whose coding may fail.
private struct Note: Codable, Sendable, Identifiable, Hashable {
    struct Refused: Error, Equatable {}

    var id: Int
    var text = ""
    var number: Int?
    var folder: Reference<Folder>?
    var lock: Reference<Folder>?

    init(_ id: Int, _ text: String = "", number: Int? = nil, folder: Int? = nil, lock: Int? = nil) {
        self.id = id
        self.text = text
        self.number = number
        self.folder = folder.map { Reference(id: $0) }
        self.lock = lock.map { Reference(id: $0) }
    }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        id = try container.decode(Int.self, forKey: .id)
        text = try container.decode(String.self, forKey: .text)
        if text == "undecodable" { throw Refused() }
        number = try container.decodeIfPresent(Int.self, forKey: .number)
        folder = try container.decodeIfPresent(Reference<Folder>.self, forKey: .folder)
        lock = try container.decodeIfPresent(Reference<Folder>.self, forKey: .lock)
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(id, forKey: .id)
        if text == "unencodable" { throw Refused() }
        try container.encode(text, forKey: .text)
        try container.encodeIfPresent(number, forKey: .number)
        try container.encodeIfPresent(folder, forKey: .folder)
        try container.encodeIfPresent(lock, forKey: .lock)
    }

    private enum CodingKeys: String, CodingKey { case id, text, number, folder, lock }
}

private struct Stranger: Codable, Sendable, Identifiable { var id: Int }

private func model() throws -> Model {
    try Model {
        Entity("folders", of: Folder.self)
        Entity("notes", of: Note.self, indexes: [Database.Index(on: \.number, unique: true, sparse: true)])
            .reference(\.folder, to: "folders", onDelete: .cascade)
            .reference(\.lock, to: "folders", onDelete: .deny)
    }
}

@Suite("Editing contexts under failure")
struct EditingContextUnderFailureTests {
    private let db: Database
    private let notes: Database.Collection<Note>
    private let folders: Database.Collection<Folder>

    init() throws {
        db = try Database(.memory)
        try db.use(model())
        notes = try db.collection(of: Note.self)
        folders = try db.collection(of: Folder.self)
    }

    private func stored() async throws -> [Note] { try await notes.find().sorted(by: \.id).all() }

    // MARK: - Conflicts

    private enum Change: CaseIterable { case update, remove }

    @Test(
        "A document that someone else removed or changed meanwhile, under each policy", arguments: Change.allCases,
        Change.allCases)
    private func policies(mine: Change, theirs: Change) async throws {
        for policy in ["fail", "mine", "theirs", "merge"] {
            try await notes.remove([:])
            try await notes.save([Note(1, "base"), Note(2, "other")])
            let policies: [String: EditingConflictPolicy] = [
                "fail": .fail, "mine": .mine, "theirs": .theirs, "merge": .mergeFields,
            ]
            let context = EditingContext(db, conflicts: policies[policy] ?? .fail)
            switch mine {
            case .update: try await context.update(Note.self, id: 1) { $0.text = "mine" }
            case .remove: #expect(try await context.remove(Note.self, id: 1))
            }
            try await context.update(Note.self, id: 2) { $0.number = 7 }
            switch theirs {
            case .update: try await notes.save(Note(1, "theirs"))
            case .remove: try await notes.remove(id: 1)
            }
            let what = "\(policy): mine \(mine), theirs \(theirs)"
            let isSame = mine == .remove && theirs == .remove
            if !isSame, policy == "fail" || policy == "merge" {
                do {
                    try await context.save()
                    Issue.record("saved, \(what)")
                } catch let error as EditingConflictError {
                    #expect(error.conflicts.map(\.key) == [ObjectKey(collection: "notes", id: 1)])
                    let conflict = try #require(error.conflicts.first)
                    #expect(conflict.base?["text"] == "base")
                    #expect(conflict.mine?["text"] == (mine == .update ? "mine" : nil))
                    #expect(conflict.theirs?["text"] == (theirs == .update ? "theirs" : nil))
                    #expect(conflict.merged() == nil)
                }
                #expect(await context.hasChanges)
                #expect(try await notes.get(2)?.number == nil, "\(what)")
                #expect(try await notes.get(1)?.text == (theirs == .update ? "theirs" : nil), "\(what)")
                // The context still has what it had, and is saved when nothing stands against it.
                #expect(try await context.get(Note.self, id: 1)?.text == (mine == .update ? "mine" : nil), "\(what)")
                continue
            }
            try await context.save()
            let expected: String? =
                switch policy {
                case "theirs": theirs == .update ? "theirs" : nil
                default: mine == .update ? "mine" : nil
                }
            #expect(try await notes.get(1)?.text == (isSame ? nil : expected), "\(what)")
            #expect(try await context.get(Note.self, id: 1)?.text == (isSame ? nil : expected), "\(what)")
            #expect(try await notes.get(2)?.number == 7)
            #expect(await !context.hasChanges, "\(what)")
            #expect(try await context.save() == 0)
        }
    }

    @Test("An id that someone else inserted meanwhile is a conflict without a base")
    func insertedTwice() async throws {
        let context = EditingContext(db)
        try await context.insert(Note(1, "mine"))
        try await notes.save(Note(1, "theirs"))
        do {
            try await context.save()
            Issue.record("saved")
        } catch let error as EditingConflictError {
            #expect(error.conflicts.first?.base == nil)
            #expect(error.conflicts.first?.theirs?["text"] == "theirs")
        }
        #expect(try await notes.get(1)?.text == "theirs")
        try await notes.remove(id: 1)
        #expect(try await context.save() == 1)
        #expect(try await notes.get(1)?.text == "mine")
    }

    @Test("A policy's closure that throws, or that changes the id, saves nothing and keeps the changes")
    func asking() async throws {
        struct Cancelled: Error {}
        try await notes.save([Note(1, "base"), Note(2)])
        let answer = Locked<Result<EditingConflict.Resolution, any Error>>(.failure(Cancelled()))
        let context = EditingContext(db, conflicts: .ask { _ in try answer.withLock { try $0.get() } })
        try await context.update(Note.self, id: 1) { $0.text = "mine" }
        try await context.insert(Note(3))
        try await notes.save(Note(1, "theirs"))
        await #expect(throws: Cancelled.self) { try await context.save() }
        #expect(try await stored().map(\.text) == ["theirs", ""])
        for bad in [["_id": 2, "text": "x"], ["text": "x"], [:]] as [BSONDocument] {
            answer.withLock { $0 = .success(.merged(bad)) }
            await #expect(throws: (any Error).self) { try await context.save() }
            #expect(try await stored().map(\.text) == ["theirs", ""])
            #expect(await context.hasChanges)
            #expect(try await context.get(Note.self, id: 1)?.text == "mine")
        }
        answer.withLock { $0 = .success(.merged(["_id": 1, "text": "both"])) }
        #expect(try await context.save() == 2)
        #expect(try await stored().map(\.text) == ["both", "", ""])
        #expect(try await context.get(Note.self, id: 1)?.text == "both")
    }

    @Test("A closure that changes the context, or the document again, is asked until nothing has changed")
    func askingWhileChanging() async throws {
        try await notes.save([Note(1, "base"), Note(2)])
        let calls = Locked(0)
        let holder = Locked<EditingContext?>(nil)
        let notes = notes
        let context = EditingContext(
            db,
            conflicts: .ask { conflict in
                let call = calls.withLock {
                    $0 += 1
                    return $0
                }
                if call == 1 { try await notes.save(Note(1, "theirs again")) }
                if call == 2 { try await notes.remove(id: 1) }
                if call == 3 { try await holder.withLock { $0 }?.insert(Note(9, "while saving")) }
                return .mine
            })
        holder.withLock { $0 = context }
        try await context.update(Note.self, id: 1) { $0.text = "mine" }
        try await notes.save(Note(1, "theirs"))
        try await context.save()
        #expect(calls.withLock { $0 } == 3)
        #expect(try await notes.get(1)?.text == "mine")
        // What came while it was saved is saved with it, or still there.
        try await context.save()
        #expect(try await notes.get(9)?.text == "while saving")
        #expect(await !context.hasChanges)
        holder.withLock { $0 = nil }
    }

    // MARK: - Types that fail

    @Test("A value that cannot be encoded leaves the context as it was")
    func encoding() async throws {
        try await notes.save(Note(1, "a"))
        let context = EditingContext(db, autosave: .every(1))
        await #expect(throws: Note.Refused.self) { try await context.insert(Note(2, "unencodable")) }
        await #expect(throws: Note.Refused.self) { try await context.update(Note(1, "unencodable")) }
        await #expect(throws: Note.Refused.self) {
            try await context.update(Note.self, id: 1) { $0.text = "unencodable" }
        }
        #expect(await !context.hasChanges)
        #expect(await !context.canUndo)
        #expect(try await context.get(Note.self, id: 1)?.text == "a")
        #expect(try await context.get(Note.self, id: 2) == nil)
        try await context.insert(Note(2, "b"))
        #expect(try await stored().count == 2)
    }

    @Test("A document that cannot be decoded is an error where it is read, and nothing else is lost")
    func decoding() async throws {
        try await notes.save([Note(1, "a"), Note(3, "c")])
        try await db.collection("notes").save(["_id": 2, "text": "undecodable", "extra": true])
        let context = EditingContext(db)
        try await context.update(Note.self, id: 1) { $0.text = "A" }
        await #expect(throws: DecodingError.self) { try await context.fetch(notes.find()) }
        let error = await #expect(throws: DecodingError.self) { try await context.get(Note.self, id: 2) }
        #expect("\(error as Any)".contains("_id 2 of collection \"notes\""))
        await #expect(throws: DecodingError.self) { try await context.update(Note.self, id: 2) { $0.text = "b" } }
        #expect(await context.updatedObjects == [ObjectKey(collection: "notes", id: 1)])
        #expect(
            try await context.fetch(notes.find { $0.text != "undecodable" }.sorted(by: \.id)).map(\.text) == ["A", "c"])
        await #expect(throws: DecodingError.self) { try await context.update(Note(2, "b")) }
        // Removing it needs no decoding.
        #expect(try await context.remove(Note.self, id: 2))
        #expect(try await context.save() == 2)
        #expect(try await stored().map(\.text) == ["A", "c"])
    }

    @Test("A unique value may pass from one document to another in one save, but not be swapped")
    func uniqueValues() async throws {
        try await notes.save([Note(1, "a", number: 1), Note(2, "b", number: 2), Note(3, "c", number: 3)])
        let context = EditingContext(db)
        // In the order of the changes the first two would meet values that are still there.
        try await context.update(Note.self, id: 1) { $0.number = 2 }
        try await context.update(Note.self, id: 2) { $0.number = 3 }
        #expect(try await context.remove(Note.self, id: 3))
        #expect(try await context.save() == 3)
        #expect(try await stored().map(\.number) == [2, 3])
        try await context.update(Note.self, id: 1) { $0.number = 3 }
        try await context.update(Note.self, id: 2) { $0.number = 2 }
        #expect(await awaitedErrorCode { try await context.save() } == .notUnique)
        #expect(try await stored().map(\.number) == [2, 3])
        #expect(await context.updatedObjects.count == 2)
    }

    @Test("Changes that are discarded while they are saved do not put off later saves")
    func discarding() async throws {
        let context = EditingContext(db, autosave: .every(3))
        for id in 10..<110 {
            try await context.insert(Note(id, "a"))
            async let saved = context.save()
            await context.discard()
            _ = try await saved
        }
        await context.discard()
        for id in 200..<203 { try await context.insert(Note(id, "b")) }
        #expect(await !context.hasChanges)
        #expect(try await notes.find { $0.text == "b" }.count() == 3)
    }

    // MARK: - Saves that fail

    @Test("A save that a unique index or a rule refuses saves nothing, keeps the changes, and succeeds when it can")
    func refused() async throws {
        try await folders.save([Folder(id: 1), Folder(id: 2)])
        try await notes.save([Note(1, "a", number: 1), Note(2, "b", lock: 1)])
        let context = EditingContext(db)
        try await context.insert(Note(3, "c", number: 1))
        try await context.insert(Note(4, "d"))
        #expect(await awaitedErrorCode { try await context.save() } == .notUnique)
        #expect(try await stored().count == 2)
        #expect(await context.insertedObjects.count == 2)
        #expect(try await context.get(Note.self, id: 3)?.number == 1)
        try await context.update(Note.self, id: 1) { $0.number = 2 }
        try await context.save()
        #expect(try await stored().map(\.number) == [2, nil, 1, nil])
        // Unique values change places in one save.
        try await context.update(Note.self, id: 1) { $0.number = 5 }
        try await context.remove(Folder.self, id: 1)
        try await context.remove(Folder.self, id: 2)
        #expect(await awaitedErrorCode { try await context.save() } == .referenced)
        #expect(try await folders.count() == 2)
        #expect(try await notes.get(1)?.number == 2)
        #expect(await context.removedObjects.count == 2)
        #expect(try await context.remove(Note.self, id: 2))
        #expect(try await context.save() == 4)
        #expect(try await folders.count() == 0)
        #expect(try await stored().map(\.number) == [5, 1, nil])
    }

    @Test("What a cascade of the save removes is gone from the context, changed or not, and can be made again")
    func cascades() async throws {
        try await folders.save([Folder(id: 1), Folder(id: 2)])
        try await notes.save([Note(1, "a", folder: 1), Note(2, "b", folder: 1), Note(3, "c", folder: 2)])
        let context = EditingContext(db)
        #expect(try await context.fetch(notes.find()).count == 3)
        try await context.update(Note.self, id: 1) { $0.text = "A" }
        try await context.update(Note.self, id: 3) { $0.folder = Reference(id: 1) }
        try await context.insert(Note(4, "d", folder: 1))
        try await context.update(Note.self, id: 2) { $0.folder = Reference(id: 2) }
        try await context.remove(Folder.self, id: 1)
        try await context.save()
        let left = try await stored()
        #expect(left.map(\.id) == [2])
        for id in [1, 3, 4] { #expect(try await context.get(Note.self, id: id) == nil, "\(id)") }
        #expect(await !context.hasChanges)
        #expect(try await context.fetch(notes.find()).map(\.id) == [2])
        try await context.insert(Note(1, "new"))
        #expect(try await context.save() == 1)
        #expect(try await notes.get(1)?.text == "new")
        #expect(try await db.danglingReferences().count == 0)
    }

    @Test("An automatic save that fails keeps the change, and the next one saves all of them")
    func autosave() async throws {
        try await notes.save(Note(1, "a", number: 1))
        let context = EditingContext(db, autosave: .every(2))
        try await context.insert(Note(2, "b", number: 1))
        #expect(await awaitedErrorCode { try await context.insert(Note(3)) } == .notUnique)
        #expect(await context.insertedObjects.count == 2)
        #expect(try await stored().count == 1)
        try await context.update(Note.self, id: 2) { $0.number = 2 }
        #expect(try await stored().map(\.number) == [1, 2, nil])
        #expect(await !context.hasChanges)

        let later = EditingContext(db, autosave: .after(.milliseconds(1)))
        try await later.insert(Note(4, "d", number: 1))
        while await later.autosaveError == nil { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await (later.autosaveError as? TansuError)?.code == .notUnique)
        #expect(await later.hasChanges)
        try await later.update(Note.self, id: 4) { $0.number = 4 }
        while await later.hasChanges { try await Task.sleep(for: .milliseconds(1)) }
        #expect(await later.autosaveError == nil)
        #expect(try await notes.get(4)?.number == 4)
    }

    @Test("Tasks that change and save one context at the same time lose nothing, and make no conflicts")
    func concurrent() async throws {
        let context = EditingContext(db)
        try await notes.save((0..<10).map { Note($0, "0") })
        try await withThrowingTaskGroup(of: Void.self) { group in
            for worker in 0..<8 {
                group.addTask {
                    for step in 0..<25 {
                        try await context.update(Note.self, id: step % 10) { $0.text = "\((Int($0.text) ?? 0) + 1)" }
                        if step % 3 == worker % 3 { try await context.save() }
                        if step % 7 == 0 { try await context.insert(Note(1_000 * (worker + 1) + step)) }
                    }
                }
            }
            try await group.waitForAll()
        }
        try await context.save()
        #expect(await !context.hasChanges)
        #expect(try await stored().prefix(10).reduce(0) { $0 + (Int($1.text) ?? 0) } == 200)
        #expect(try await stored().count == 10 + 8 * 4)
    }

    // MARK: - Bad use

    @Test("A context without a model, of a closed database, or with a type that the model does not have, throws")
    func badUse() async throws {
        let bare = EditingContext(try Database(.memory))
        #expect(await awaitedErrorCode { try await bare.insert(Note(1)) } == .invalidState)
        #expect(await awaitedErrorCode { _ = try await bare.get(Note.self, id: 1) } == .invalidState)
        let context = EditingContext(db)
        #expect(await awaitedErrorCode { try await context.insert(Stranger(id: 1)) } == .invalidArgument)
        #expect(await awaitedErrorCode { _ = try await context.get(Stranger.self, id: 1) } == .invalidArgument)
        #expect(await awaitedErrorCode { try await context.update(Note(77)) } == .notFound)
        #expect(try await context.update(Note.self, id: 77) { $0.text = "x" } == nil)
        #expect(try await !context.remove(Note.self, id: 77))
        try await context.insert(Note(1, "a"))
        #expect(await awaitedErrorCode { try await context.insert(Note(1, "b")) } == .exists)
        #expect(await awaitedErrorCode { _ = try await context.update(Note.self, id: 1) { $0.id = 2 } } == .invalidID)
        struct Stop: Error {}
        await #expect(throws: Stop.self) {
            try await context.update(Note.self, id: 1) {
                $0.text = "half"
                throw Stop()
            }
        }
        #expect(try await context.get(Note.self, id: 1)?.text == "a")
        try await db.close()
        #expect(await awaitedErrorCode { try await context.save() } == .closed)
        #expect(await awaitedErrorCode { _ = try await context.get(Note.self, id: 5) } == .closed)
        #expect(await awaitedErrorCode { _ = try await context.fetch(notes.find()) } == .closed)
        #expect(await awaitedErrorCode { try await context.reload() } == .closed)
        #expect(await context.insertedObjects.count == 1)
        #expect(try await context.undo())
        await context.discard()
        #expect(await !context.hasChanges)
    }

    @Test(
        "A document whose id has another type of number, as other programs store it, is the same document",
        arguments: [BSONValue.int64(1), .double(1), BSONValue(exactly: Decimal(1)) ?? .null])
    func numbersOfOtherTypes(id: BSONValue) async throws {
        try await db.collection("notes").save(["_id": id, "text": "a", "extra": true])
        let context = EditingContext(db)
        #expect(try await context.get(Note.self, id: 1)?.text == "a")
        #expect(try await context.fetch(notes.find()).count == 1)
        try await context.update(Note.self, id: 1) { $0.text = "b" }
        #expect(try await context.fetch(notes.find { $0.text == "b" }).count == 1)
        #expect(await context.updatedObjects == [ObjectKey(collection: "notes", id: 1)])
        #expect(try await context.save() == 1)
        #expect(try await notes.get(1)?.text == "b")
        #expect(try await context.fetch(notes.find()).map(\.text) == ["b"])
        #expect(try await context.remove(Note.self, id: 1))
        #expect(try await context.fetch(notes.find()).isEmpty)
        try await context.save()
        #expect(try await notes.count() == 0)
    }

    @Test("Ids of text that is canonically equivalent, but not the same, are two documents")
    func equivalentText() async throws {
        struct Word: Codable, Sendable, Identifiable, Hashable {
            var id: String
            var count = 0
        }
        let db = try Database(.memory)
        try await db.use(Model { Entity("words", of: Word.self) })
        let words = try db.collection(of: Word.self)
        let (one, other) = ("caf\u{e9}", "cafe\u{301}")
        try await words.save([Word(id: one), Word(id: other)])
        let context = EditingContext(db)
        #expect(try await context.fetch(words.find()).count == 2)
        try await context.update(Word.self, id: one) { $0.count = 1 }
        #expect(try await context.get(Word.self, id: other)?.count == 0)
        #expect(try await context.remove(Word.self, id: other))
        try await context.save()
        #expect(try await words.find().all().map(\.count) == [1])
        try await context.insert(Word(id: other, count: 2))
        try await context.save()
        #expect(try await words.find().all().map(\.count) == [1, 2])
        #expect(ObjectKey(collection: "words", id: .string(one)) != ObjectKey(collection: "words", id: .string(other)))
    }

    @Test("Changes that cancel each other are none")
    func cancelling() async throws {
        try await notes.save(Note(1, "a"))
        let context = EditingContext(db)
        try await context.insert(Note(2))
        #expect(try await context.remove(Note.self, id: 2))
        #expect(await !context.hasChanges)
        #expect(try await context.remove(Note.self, id: 1))
        try await context.insert(Note(1, "a"))
        #expect(try await context.get(Note.self, id: 1) == Note(1, "a"))
        try await context.update(Note.self, id: 1) { $0.text = "b" }
        #expect(await context.updatedObjects.count == 1)
        #expect(await context.insertedObjects.isEmpty)
        try await context.update(Note.self, id: 1) { $0.text = "a" }
        #expect(await !context.hasChanges)
        #expect(try await context.save() == 0)
    }

    @Test("A group whose closure throws is one group, groups nest, and undoing inside one is an error")
    func groups() async throws {
        struct Stop: Error {}
        let context = EditingContext(db)
        await #expect(throws: Stop.self) {
            try await context.groupingUndo { context in
                try await context.insert(Note(1))
                try await context.groupingUndo { try await $0.insert(Note(2)) }
                #expect(await awaitedErrorCode { _ = try await context.undo() } == .invalidState)
                #expect(await awaitedErrorCode { _ = try await context.redo() } == .invalidState)
                throw Stop()
            }
        }
        try await context.insert(Note(3))
        #expect(await context.insertedObjects.count == 3)
        #expect(try await context.undo())
        #expect(try await context.undo())
        #expect(await !context.hasChanges)
        #expect(try await !context.undo())
        #expect(try await context.redo())
        #expect(await context.insertedObjects.count == 2)
        try await context.insert(Note(4))
        #expect(try await !context.redo())
        let none = EditingContext(db, undoLevels: 0)
        try await none.insert(Note(1))
        #expect(try await !none.undo())
        let two = EditingContext(db, undoLevels: 2)
        for id in 1...3 { try await two.insert(Note(id)) }
        while try await two.undo() {}
        #expect(await two.insertedObjects.count == 1)
    }

    @Test("Undoing beyond a save leaves what others changed meanwhile")
    func undoAfterOthers() async throws {
        try await notes.save([Note(1, "a"), Note(2, "b")])
        let context = EditingContext(db)
        try await context.groupingUndo { context in
            try await context.update(Note.self, id: 1) { $0.text = "A" }
            try await context.remove(Note.self, id: 2)
        }
        try await context.save()
        try await notes.update(id: 1) { $0.number = 5 }
        try await context.reload()
        #expect(try await context.undo())
        #expect(await context.hasChanges)
        #expect(try await context.get(Note.self, id: 1) == Note(1, "a", number: 5))
        #expect(try await context.get(Note.self, id: 2) == Note(2, "b"))
        #expect(try await notes.count() == 1)
        try await context.save()
        #expect(try await stored() == [Note(1, "a", number: 5), Note(2, "b")])
        #expect(try await context.redo())
        try await context.save()
        #expect(try await stored() == [Note(1, "A", number: 5)])
    }

    // MARK: - Beside a plain model

    @Test("Random changes, groups, saves, undoing and redoing are as in a plain model", arguments: 0..<12)
    func property(round: Int) async throws {
        var generator = SeededGenerator(seed: SeededGenerator.seed() &+ UInt64(round))
        var stored: [Int: Note] = [:]
        var current: [Int: Note] = [:]
        var undo: [[Int: Note]] = []
        var redo: [[Int: Note]] = []
        let context = EditingContext(db)
        for step in 0..<120 {
            let id = Int.random(in: 0..<6, using: &generator)
            let before = current
            switch Int.random(in: 0..<12, using: &generator) {
            case 0..<6:
                let count = Int.random(in: 1...3, using: &generator)
                var ids: [(Int, Bool)] = []
                for other in 0..<count { ids.append(((id + other) % 6, Bool.random(using: &generator))) }
                let (changes, there) = (ids, current)
                try await context.groupingUndo { context in
                    for (id, removes) in changes {
                        let text = "step \(step)"
                        if there[id] == nil {
                            try await context.insert(Note(id, text))
                        } else if removes {
                            #expect(try await context.remove(Note.self, id: id))
                        } else {
                            try await context.update(Note.self, id: id) { $0.text = text }
                        }
                    }
                }
                for (id, removes) in changes {
                    if there[id] == nil || !removes {
                        current[id] = Note(id, "step \(step)")
                    } else {
                        current[id] = nil
                    }
                }
                undo.append(before)
                redo = []
            case 6, 7:
                #expect(try await context.undo() == !undo.isEmpty)
                if let last = undo.popLast() {
                    redo.append(current)
                    current = last
                }
            case 8:
                #expect(try await context.redo() == !redo.isEmpty)
                if let next = redo.popLast() {
                    undo.append(current)
                    current = next
                }
            case 9, 10:
                try await context.save()
                stored = current
            default:
                try await context.reload()
            }
            let what = "round \(round) step \(step) of seed \(SeededGenerator.seed())"
            let sorted = current.values.sorted { $0.id < $1.id }
            #expect(try await context.fetch(notes.find().sorted(by: \.id)) == sorted, "\(what)")
            #expect(try await context.get(Note.self, id: id) == current[id], "\(what)")
            #expect(try await self.stored() == stored.values.sorted { $0.id < $1.id }, "\(what)")
            #expect(await context.hasChanges == (current != stored), "\(what)")
            let (inserted, removed) = await (context.insertedObjects, context.removedObjects)
            #expect(
                Set(inserted.map(\.id.intValue)) == Set(current.keys.filter { stored[$0] == nil }),
                "\(what)")
            #expect(
                Set(removed.compactMap(\.id.intValue)) == Set(stored.keys.filter { current[$0] == nil }),
                "\(what)")
            #expect(
                try await context.updatedObjects(of: Note.self).allSatisfy { stored[$0.id] != current[$0.id] },
                "\(what)")
        }
    }
}
