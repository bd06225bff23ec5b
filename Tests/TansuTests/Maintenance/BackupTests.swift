import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Backup, restore and clone")
struct BackupTests {
    private struct Enough: Error {}

    /// A database in a folder with two people, an index and a second collection.
    private func stored(in folder: TemporaryFolder) throws -> Database {
        let db = try Database(path: folder.path("people.tansu"))
        let people = try db.collection("people")
        try people.save([["_id": 1, "name": "mike"], ["_id": 2, "name": "rosa"]])
        try people.ensureIndex("by_name", on: ["name": .ascending])
        try db.collection("pets").save(["_id": "cat"])
        return db
    }

    private func expectSame(_ copy: Database, _ db: Database) throws {
        #expect(try copy.collections() == db.collections())
        for name in try db.collectionNames() {
            #expect(try copy.collection(name).find().all() == db.collection(name).find().all())
            #expect(try copy.collection(name).indexes() == db.collection(name).indexes())
        }
    }

    @Test("A backup of either form is restored as it was", arguments: Database.BackupForm.allCases)
    func roundTrip(form: Database.BackupForm) throws {
        let folder = try TemporaryFolder()
        let db = try stored(in: folder)
        let backup = folder.path("saved")
        let report = try db.backup(to: backup, form: form)
        #expect(report.documents == 3 && report.bytes ?? 0 > 0)
        try db.collection("people").save(["_id": 3, "name": "later"])
        let restored = try Database.restore(from: backup, to: folder.path("restored"))
        #expect(restored.documents == 3 && restored.sequence == report.sequence)
        let copy = try Database(path: folder.path("restored"), options: .init(mustExist: true))
        #expect(try copy.collection("people").count() == 2)
        try db.collection("people").remove(id: 3)
        try expectSame(copy, db)
    }

    @Test("A backup as a folder is a database")
    func opened() async throws {
        let folder = try TemporaryFolder()
        let db = try stored(in: folder)
        try await db.backup(to: folder.path("saved"))
        try expectSame(try Database(path: folder.path("saved"), options: .init(mustExist: true)), db)
    }

    @Test("Existing files are not overwritten, and a missing backup is an error")
    func rejected() async throws {
        let folder = try TemporaryFolder()
        let db = try stored(in: folder)
        try Data("mine".utf8).write(to: folder.url.appendingPathComponent("taken"))
        for form in Database.BackupForm.allCases {
            #expect(try code { try db.backup(to: folder.path("taken"), form: form) } == .exists)
        }
        #expect(try Data(contentsOf: folder.url.appendingPathComponent("taken")) == Data("mine".utf8))
        #expect(try code { try Database.restore(from: folder.path("none"), to: folder.path("new")) } == .notFound)
        #expect(!FileManager.default.fileExists(atPath: folder.path("new")))
        #expect(try code { try db.backup(to: "a\0b") } == .invalidArgument)
    }

    @Test("Nothing is written into the folder of a database, whichever way it is named")
    func ownFolder() async throws {
        let folder = try TemporaryFolder()
        let db = try stored(in: folder)
        let path = try #require(try await db.stats()["path"]?.stringValue)
        try await db.backup(to: folder.path("saved"), form: .file)
        try FileManager.default.createSymbolicLink(atPath: folder.path("link"), withDestinationPath: path)
        let before = try FileManager.default.subpathsOfDirectory(atPath: path)
        for inside in ["\(path)/x", "\(path)/log/x", "\(path)/none/x", folder.path("link/x"), "\(path)/log/../x/"] {
            for form in Database.BackupForm.allCases {
                #expect(try code { try db.backup(to: inside, form: form) } == .invalidArgument, "\(inside)")
            }
            let error = #expect(throws: TansuError.self) { try db.dump(to: inside) }
            #expect(error?.code == .invalidArgument && error?.message.contains("choose a path outside") == true)
            #expect(try code { _ = try db.clone(to: .persistent(path: inside)) } == .invalidArgument)
            #expect(
                try code { try Database.restore(from: folder.path("saved"), to: inside) } == .invalidArgument)
        }
        await #expect(throws: TansuError.self) { try await db.backup(to: "\(path)/x") }
        await #expect(throws: TansuError.self) { try await db.dump(to: "\(path)/x") }
        #expect(try FileManager.default.subpathsOfDirectory(atPath: path).sorted() == before.sorted())
        // Beside it is no problem, in memory there is no folder.
        try await db.dump(to: path + ".dump")
        try await Database(.memory).dump(to: folder.path("memory"))
    }

    @Test("A corrupt backup file is rejected, and creates no database")
    func damaged() throws {
        let folder = try TemporaryFolder()
        let db = try stored(in: folder)
        try db.backup(to: folder.path("saved"), form: .file)
        let file = folder.url.appendingPathComponent("saved")
        var bytes = try Data(contentsOf: file)
        bytes[bytes.count / 2] ^= 1
        try bytes.write(to: file)
        #expect(try code { try Database.restore(from: file.path, to: folder.path("new")) } == .corrupt)
        #expect(!FileManager.default.fileExists(atPath: folder.path("new")))
    }

    @Test("What the progress closure throws ends a backup, and nothing is left of it")
    func stopped() async throws {
        let folder = try TemporaryFolder()
        let db = try stored(in: folder)
        for form in Database.BackupForm.allCases {
            #expect(throws: Enough.self) { try db.backup(to: folder.path("b"), form: form) { _ in throw Enough() } }
            await #expect(throws: Enough.self) {
                try await db.backup(to: folder.path("b"), form: form) { _ in throw Enough() }
            }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder.url.path) == ["people.tansu"])
        try await db.backup(to: folder.path("b"))
    }

    @Test("A task that is cancelled during its backup gets a CancellationError, and nothing is left of the backup")
    func cancelled() async throws {
        let folder = try TemporaryFolder()
        let db = try stored(in: folder)
        let begun = Signal()
        let goOn = DispatchSemaphore(value: 0)
        let path = folder.path("b")
        let task = Task {
            try await db.backup(to: path) { _ in
                Task { await begun.give() }
                goOn.wait()
                // Every later call finds it open.
                goOn.signal()
            }
        }
        await begun.wait()
        task.cancel()
        goOn.signal()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test("A clone has everything, and is independent")
    func clone() async throws {
        let folder = try TemporaryFolder()
        let db = try stored(in: folder)
        for store in [Database.Store.memory, .persistent(path: folder.path("clone"))] {
            let copy = try await db.clone(to: store)
            try expectSame(copy, db)
            try await copy.collection("people").save(["_id": 9])
            #expect(try await db.collection("people").count() == 2)
            try await copy.close()
        }
        #expect(try code { try db.clone(to: .persistent(path: folder.path("clone"))) } == .exists)
        try expectSame(try await db.clone(to: .memory), db)
    }
}

/// The code of the error that `body` throws; `nil` when it throws none.
func code(_ body: () throws -> some Any) throws -> TansuError.Code? {
    do {
        _ = try body()
        return nil
    } catch let error as TansuError {
        return error.code
    }
}
