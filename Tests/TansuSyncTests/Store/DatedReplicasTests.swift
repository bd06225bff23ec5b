#if TansuSync
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

/// What docs/replication.md promises of what the engine changes by itself: no replica writes in answer to a write.
@Suite("Store: replicas come to rest, whatever the engine adds to documents", .timeLimit(.minutes(20)))
struct DatedReplicasTests {
    private let here: Database
    private let there: Database

    init() throws {
        here = try Database(.memory)
        there = try Database(.memory)
    }

    private var sides: [Database.Collection<BSONDocument>] {
        get throws { [try here.collection("notes"), try there.collection("notes")] }
    }

    /// Replicates both ways until nothing is written.
    ///
    /// - Returns: How many revisions were written.
    @available(macOS 14, *)
    private func rest(_ limit: Int = 12) async throws -> Int {
        let sides = try sides
        var written = 0
        for round in 0... {
            let progress = try await sides[0].replicate(with: sides[1], .both).wait()
            if progress.documentsWritten == 0 { break }
            written += progress.documentsWritten
            #expect(progress.failedDocuments == 0)
            try #require(round < limit, "The replicas do not come to rest")
        }
        // What they have is the same, with the same names, and nobody has found a change since.
        let leaves = try sides.map { try Self.leaves($0) }
        #expect(leaves[0] == leaves[1])
        #expect(try Self.documents(sides[0]) == Self.documents(sides[1]))
        return written
    }

    /// The documents by their ids: they are found in the order in which each side got them.
    private static func documents(
        _ collection: Database.Collection<BSONDocument>
    ) throws -> [BSONValue: BSONDocument] {
        var documents: [BSONValue: BSONDocument] = [:]
        for document in try collection.find().all() { documents[document["_id"] ?? .null] = document }
        return documents
    }

    /// Brings each side what the other one had before, so that both see a conflict before either knows the other's answer to it.
    ///
    /// - Returns: How many revisions were brought.
    private static func exchange(_ collections: [ReplicatedCollection]) async throws -> Int {
        let peers = collections.map { LocalPeer($0) }
        var brought: [[PeerRevision]] = []
        for (source, target) in [(peers[0], peers[1]), (peers[1], peers[0])] {
            let changes = try await source.changes(after: nil, filter: .all, limit: 100)
            let missing = try await target.missing(changes.documents)
            var revisions: [PeerRevision] = []
            let wanted = missing.map { DocumentRevisions(id: $0.id, revisions: $0.revisions) }
            try await source.fetch(wanted) { fetched in
                if case .revision(let revision) = fetched { revisions.append(revision) }
            }
            brought.append(revisions)
        }
        for (revisions, target) in [(brought[0], peers[1]), (brought[1], peers[0])] {
            let reasons = try await target.write(revisions)
            #expect(reasons.compactMap { $0 }.isEmpty)
        }
        return brought[0].count + brought[1].count
    }

    private static func leaves(_ collection: Database.Collection<BSONDocument>) throws -> [String: [String]] {
        try collection.enableReplication().read { store in
            var leaves: [String: [String]] = [:]
            let records = try store.documents(includesDeleted: true)
            while let record = try records.read() {
                leaves[record.id] = record.tree.leaves.map { "\($0.revision) \($0.isDeleted)" }
            }
            return leaves
        }
    }

    private func generation(_ id: String) throws -> Int? {
        try here.collection("notes").revision(of: id)?.generation
    }

    @available(macOS 14, *)
    @Test(
        "Timestamps before or after replication: one edit is one revision on both sides", arguments: [true, false])
    func oneEdit(isDatedFirst: Bool) async throws {
        for database in [here, there] {
            if isDatedFirst { try await database.setTimestamps(Database.Timestamps(), of: "notes") }
            try await database.collection("notes").enableReplication()
            if !isDatedFirst { try await database.setTimestamps(Database.Timestamps(), of: "notes") }
        }
        let notes = try sides
        try await notes[0].save(["_id": "n", "text": "one"])
        #expect(try await rest() == 1)
        #expect(try generation("n") == 1)
        let first = try #require(try await notes[1].get("n"))
        #expect(first["createdAt"] != nil && first["updatedAt"] != nil)
        try await notes[1].save(["_id": "n", "text": "two"])
        #expect(try await rest() == 1)
        #expect(try generation("n") == 2)
        // The date of the insertion is that of the other replica.
        #expect(try await notes[0].get("n")?["createdAt"] == first["createdAt"])
        #expect(try await notes[0].conflicted().isEmpty)
        #expect(try await notes[1].conflicted().isEmpty)
        #expect(try await notes[0].remove(id: "n"))
        #expect(try await rest() == 1)
        #expect(try await rest() == 0)
    }

    @available(macOS 14, *)
    @Test("One side dates under other names, or not at all")
    func differentOptions() async throws {
        try await here.setTimestamps(Database.Timestamps(created: nil, updated: "changed"), of: "notes")
        let notes = try sides
        for round in 1...3 {
            try await notes[0].save(["_id": "a", "n": BSONValue(round)])
            #expect(try await rest() == 1)
            try await notes[1].save(["_id": "b", "n": BSONValue(round)])
            #expect(try await rest() == 1)
            #expect(try generation("a") == round && generation("b") == round)
        }
        // What the other side has saved has no date, and gets none by arriving here.
        #expect(try await notes[0].get("b") == ["_id": "b", "n": 3])
        try await there.setTimestamps(Database.Timestamps(), of: "notes")
        try await notes[1].save(["_id": "a", "n": 9])
        #expect(try await rest() == 1)
    }

    @available(macOS 14, *)
    @Test("The edit of a client is dated as a save is, in its own revision")
    func clientEdits() throws {
        try here.setTimestamps(Database.Timestamps(), of: "notes")
        let notes = try here.collection("notes")
        let replicated = try notes.enableReplication()
        func edit(_ edit: DocumentEdit) throws -> Revision {
            try replicated.write { try $0.save([edit])[0].get() }
        }
        let first = try edit(DocumentEdit(id: "n", fields: ["a": 1, "createdAt": 5, "updatedAt": "x"]))
        let inserted = try #require(try notes.get("n"))
        guard case .date(let created)? = inserted["createdAt"], case .date(let updated)? = inserted["updatedAt"]
        else {
            Issue.record("\(inserted)")
            return
        }
        #expect(created > 5 && updated >= created)
        #expect(try notes.revision(of: "n") == first)
        let second = try edit(DocumentEdit(id: "n", parent: first, fields: ["a": 2, "createdAt": 5]))
        #expect(try notes.get("n")?["createdAt"] == inserted["createdAt"])
        #expect(try notes.revision(of: "n") == second && second.generation == 2)
        // After a removal it is inserted again; design documents are none of the collection.
        let removed = try edit(DocumentEdit(id: "n", parent: second, isDeleted: true))
        let again = try edit(DocumentEdit(id: "n", fields: ["a": 3]))
        #expect(removed.generation == 3 && again.generation == 4)
        #expect(try notes.get("n")?["createdAt"] != nil)
        _ = try edit(DocumentEdit(id: "_design/d", fields: ["views": [:]]))
        let design = try replicated.read { try #require(try $0.document("_design/d")) }
        #expect(try replicated.read { try $0.body(of: design, design.winner)?.fields } == ["views": [:]])
    }

    @available(macOS 14, *)
    @Test("A resolver's merge is dated the same on both sides")
    func resolvers() async throws {
        var kept: [ReplicatedCollection] = []
        for database in [here, there] {
            try await database.setTimestamps(Database.Timestamps(), of: "notes")
            kept.append(
                try await database.collection("notes").enableReplication { conflict in
                    .merge([
                        "n": BSONValue(
                            (conflict.winner.fields["n"]?.intValue ?? 0)
                                + (conflict.other.fields["n"]?.intValue ?? 0))
                    ])
                })
        }
        let notes = try sides
        try await notes[0].save(["_id": "n", "n": 1])
        try await notes[1].save(["_id": "n", "n": 2])
        let dates = try notes.map { try $0.get("n")?["createdAt"] }
        _ = try await rest()
        let merged = try #require(try await notes[0].get("n"))
        #expect(merged["n"] == 3 && dates.contains(merged["createdAt"]) && merged["updatedAt"] != nil)
        #expect(try await notes[0].conflicted().isEmpty)
        #expect(try generation("n") == 2)
        withExtendedLifetime(kept) {}
    }

    @available(macOS 14, *)
    @Test("A resolver that never returns the same twice is stopped: the conflict stays")
    func endlessResolvers() async throws {
        let counter = Locked(0)
        var kept: [ReplicatedCollection] = []
        for database in [here, there] {
            kept.append(
                try await database.collection("notes").enableReplication { _ in
                    .merge([
                        "n": BSONValue(
                            counter.withLock {
                                $0 += 1; return $0
                            })
                    ])
                })
        }
        let notes = try sides
        try await notes[0].save(["_id": "n", "n": -1])
        try await notes[1].save(["_id": "n", "n": -2])
        // One after the other the sides would come to rest: the first answer ends the conflict.
        var rounds = 0
        while try await Self.exchange(kept) > 0 {
            rounds += 1
            try #require(rounds < 100, "The replicas do not come to rest")
        }
        #expect(try await rest() == 0)
        #expect(try await notes[0].conflicted() == ["n"])
        #expect(try await notes[1].conflicted() == ["n"])
        // Somebody decides.
        try await notes[0].resolveConflicts(of: "n", with: ["n": 0])
        _ = try await rest()
        #expect(try await notes[1].get("n")?["n"] == 0)
        #expect(try await notes[1].conflicted().isEmpty)
        withExtendedLifetime(kept) {}
    }

    @available(macOS 14, *)
    @Test(
        "Delete rules on both sides make the same revisions",
        arguments: [Database.DeleteRule.cascade, .nullify])
    func deleteRules(rule: Database.DeleteRule) async throws {
        for database in [here, there] {
            try await database.collection("notes").enableReplication()
            try await database.setReferences(
                [Database.CollectionReference("parent", to: "notes", onDelete: rule)], of: "notes")
        }
        let notes = try sides
        try await notes[0].save([["_id": "root"]])
        try await notes[0].save((0..<20).map { ["_id": .string("child \($0)"), "parent": "root"] })
        #expect(try await rest() == 21)
        // One that the remover does not know.
        try await notes[1].save(["_id": "other", "parent": "root"])
        #expect(try await notes[0].remove(id: "root"))
        let written = try await rest()
        // The removal, what it does to each child on the one side or on the other, and the child that only one of them had.
        #expect(written <= 1 + 20 + 2 + 20)
        #expect(try await notes[0].conflicted().isEmpty)
        #expect(try await notes[0].count() == (rule == .cascade ? 0 : 21))
    }

    /// Replicates both ways in small batches until nothing is written.
    ///
    /// - Returns: How many revisions were written.
    private func restInBatches(of size: Int) async throws -> Int {
        let peers = try sides.map { LocalPeer(try $0.enableReplication()) }
        var options = Replicator.Options.test()
        options.batchSize = size
        var written = 0
        for round in 0... {
            var count = 0
            for (source, target) in [(peers[0], peers[1]), (peers[1], peers[0])] {
                let report = try await Replicator(from: source, to: target, options).runOnce()
                #expect(report.writeFailures == 0)
                count += report.documentsWritten
            }
            if count == 0 { break }
            written += count
            try #require(round < 12, "The replicas do not come to rest")
        }
        let leaves = try sides.map { try Self.leaves($0) }
        #expect(leaves[0] == leaves[1])
        #expect(try Self.documents(sides[0]) == Self.documents(sides[1]))
        return written
    }

    @available(macOS 14, *)
    @Test(
        "Effects of delete rules arrive in batches of their own", arguments: [1, 3])
    func effectsInBatches(size: Int) async throws {
        for database in [here, there] {
            try await database.collection("notes").enableReplication()
            try await database.setReferences(
                [Database.CollectionReference("parent", to: "notes", onDelete: .nullify)], of: "notes")
        }
        let notes = try sides
        try await notes[0].save([["_id": "root"]])
        try await notes[0].save((0..<7).map { ["_id": .string("child \($0)"), "parent": "root"] })
        #expect(try await restInBatches(of: size) == 8)
        try await notes[1].save(["_id": "other", "parent": "root"])
        #expect(try await notes[0].remove(id: "root"))
        // The removal, and for each child what either side has made of it.
        #expect(try await restInBatches(of: size) <= 1 + 8 * 4)
        for collection in notes {
            #expect(try await collection.conflicted().isEmpty)
            #expect(try await collection.count(["parent": .null]) == 8)
        }
        #expect(try await restInBatches(of: size) == 0)
    }

    @available(macOS 14, *)
    @Test(
        "A migration on one side, then on the other, or on both at once", arguments: [true, false], [true, false])
    func migrations(isDated: Bool, atOnce: Bool) async throws {
        for database in [here, there] {
            if isDated { try await database.setTimestamps(Database.Timestamps(), of: "notes") }
            try await database.collection("notes").enableReplication()
        }
        var migrations = Database.Migrations()
        migrations.add("titles") { step in
            try step.rewrite("notes") { note in
                guard let text = note.removeValue(forKey: "text") else { return }
                note["title"] = text
            }
        }
        let notes = try sides
        try await notes[0].save((0..<20).map { ["_id": .string("\($0)"), "text": "a"] })
        #expect(try await rest() == 20)
        try await here.migrate(migrations)
        try await Task.sleep(for: .milliseconds(5))
        if !atOnce { #expect(try await rest() == 20) }
        try await there.migrate(migrations)
        let written = try await rest()
        // Both made the same revisions, but for their dates.
        #expect(atOnce ? written <= (isDated ? 20 * 4 : 0) : written == 0)
        for collection in notes {
            #expect(try await collection.conflicted().count == (isDated && atOnce ? 20 : 0))
            #expect(try await collection.count(["title": "a", "text": ["$exists": false]]) == 20)
        }
        #expect(try await rest() == 0)
    }

    @available(macOS 14, *)
    @Test("Two saves of different content stay a conflict, whatever their dates are")
    func realConflicts() async throws {
        for database in [here, there] {
            try await database.setTimestamps(Database.Timestamps(), of: "notes")
            try await database.collection("notes").enableReplication()
        }
        let notes = try sides
        try await notes[0].save([["_id": "n", "a": 1], ["_id": "same", "a": 1], ["_id": "equal", "a": 1]])
        // Equal saves at different times are two revisions.
        try await Task.sleep(for: .milliseconds(5))
        try await notes[1].save([["_id": "n", "a": 2], ["_id": "same", "a": 1], ["_id": "equal", "a": 1]])
        try await notes[1].attachments(of: "same").add([1], name: "file")
        // Each side gets the other one's revision of each document, and makes none in answer.
        #expect(try await rest() == 6)
        #expect(try await rest() == 0)
        #expect(try await notes[0].conflicted() == notes[1].conflicted())
        // Of "same" the attachments differ, of "equal" the dates.
        #expect(try await Set(notes[0].conflicted()) == ["n", "same", "equal"])
    }

    @available(macOS 14, *)
    @Test("A schema on one side refuses documents, and nothing is written for that")
    func schemas() async throws {
        let notes = try sides
        for collection in notes { try await collection.enableReplication() }
        try there.setSchema(["type": "object", "required": ["text"]] as BSONDocument, for: "notes")
        try await notes[0].save([["_id": "a", "text": "x"], ["_id": "b"]])
        let before = try await notes[0].replicate(with: notes[1], .both).wait()
        #expect(before.documentsWritten == 1 && before.failedDocuments == 1)
        let sequences = try notes.map { try $0.enableReplication().read { $0.info().updateSequence } }
        for _ in 0..<3 {
            let progress = try await notes[0].replicate(with: notes[1], .both).wait()
            #expect(progress.documentsWritten == 0)
        }
        #expect(try notes.map { try $0.enableReplication().read { $0.info().updateSequence } } == sequences)
    }
}
#endif
