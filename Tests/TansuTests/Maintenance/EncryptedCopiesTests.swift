import Foundation
import Tansu
import TansuTestSupport
import Testing

@Suite("Encrypted backups and dumps", .enabled(if: Database.engineLibraries.contains("libcrypto")))
struct EncryptedCopiesTests {
    private let folder: TemporaryFolder
    private let db: Database
    private let key = DatabaseKey.bytes(UInt8(0)..<32)
    private let other = DatabaseKey.bytes(UInt8(1)..<33)

    init() throws {
        folder = try TemporaryFolder()
        db = try Database(path: folder.path("db"), key: key)
        try db.collection("people").save(["_id": 1, "name": "Ann"])
    }

    private func expectRestored(_ backup: String, _ key: DatabaseKey?) throws {
        let path = folder.path("restored")
        #expect(try Database.restore(from: folder.path(backup), to: path, key: key).documents == 1)
        let copy = try Database(path: path, key: key)
        #expect(try copy.collection("people").get(1)?["name"] == "Ann")
        try copy.close()
        try FileManager.default.removeItem(atPath: path)
    }

    private func expectRefused(_ code: TansuError.Code, _ backup: String, _ key: DatabaseKey?) {
        let error = #expect(throws: TansuError.self) {
            try Database.restore(from: folder.path(backup), to: folder.path("restored"), key: key)
        }
        #expect(error?.code == code)
    }

    @Test(
        "A backup is encrypted as the database, with a key of its own, or not", arguments: Database.BackupForm.allCases)
    func backups(form: Database.BackupForm) throws {
        try db.backup(to: folder.path("same"), form: form)
        try db.backup(to: folder.path("own"), form: form, encryption: .key(other))
        try db.backup(to: folder.path("plain"), form: form, encryption: .none)
        try expectRestored("same", key)
        try expectRestored("own", other)
        try expectRestored("plain", nil)
        expectRefused(.encrypted, "same", nil)
        expectRefused(.wrongKey, "same", other)
        expectRefused(.wrongKey, "own", key)
        expectRefused(.invalidArgument, "plain", key)
    }

    @Test("The async variants take keys as well")
    func asynchronous() async throws {
        try await db.backup(to: folder.path("own"), form: .file, encryption: .key(other))
        let report = try await Database.restore(from: folder.path("own"), to: folder.path("async"), key: other)
        #expect(report.documents == 1)
        try await db.dump(to: folder.path("dump"), key: other)
        let copy = try Database(.memory)
        #expect(try await copy.load(from: folder.path("dump"), key: other).documents == 1)
    }

    @Test("A dump is encrypted with a key")
    func dumps() throws {
        try db.dump(to: folder.path("dump"), key: other)
        let text = try Data(contentsOf: URL(fileURLWithPath: folder.path("dump")))
        #expect(text.range(of: Data("Ann".utf8)) == nil)
        let copy = try Database(.memory)
        for (key, code) in [(nil, TansuError.Code.encrypted), (key, .wrongKey)] as [(DatabaseKey?, TansuError.Code)] {
            let error = #expect(throws: TansuError.self) { try copy.load(from: folder.path("dump"), key: key) }
            #expect(error?.code == code)
        }
        #expect(try copy.load(from: folder.path("dump"), key: other).documents == 1)
        #expect(try copy.collection("people").get(1)?["name"] == "Ann")
    }

    @Test("What reads and writes an encrypted dump may throw")
    func closures() throws {
        struct Enough: Error {}
        #expect(throws: Enough.self) { try db.dump(key: other, into: { _ in throw Enough() }) }
        #expect(throws: Enough.self) { try db.load(key: other, from: { throw Enough() }) }
    }
}
