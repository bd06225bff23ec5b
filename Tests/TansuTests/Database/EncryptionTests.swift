import Foundation
import TansuTestSupport
import Testing

@testable import Tansu

@Suite("Encrypted databases", .timeLimit(.minutes(20)), .enabled(if: Database.engineLibraries.contains("libcrypto")))
struct EncryptionTests {
    private let folder: TemporaryFolder
    private let path: String
    private let bytes = DatabaseKey.bytes(UInt8(0)..<32)

    init() throws {
        folder = try TemporaryFolder()
        path = folder.path("app.tansu")
    }

    private func code(opening key: DatabaseKey?) -> TansuError.Code? {
        do {
            try Database(path: path, key: key).close()
            return nil
        } catch { return (error as? TansuError)?.code }
    }

    @Test("A database opens with its key only")
    func opening() throws {
        let db = try Database(path: path, key: bytes)
        try db.collection("people").save(["_id": 1])
        #expect(try db.stats()["encrypted"] == "aes-256-gcm")
        try db.close()
        #expect(code(opening: nil) == .encrypted)
        #expect(code(opening: .bytes(UInt8(1)..<33)) == .wrongKey)
        #expect(code(opening: .passphrase("secret")) == .wrongKey)
        #expect(code(opening: bytes) == nil)
        let reader = try Database(path: path, options: .init(allowWriter: true, key: bytes))
        #expect(try reader.collection("people").find().count() == 1)
    }

    @Test("A database that is not encrypted refuses a key")
    func plain() throws {
        try Database(path: path).close()
        #expect(code(opening: bytes) == .invalidArgument)
        #expect(code(opening: nil) == nil)
    }

    @Test(
        "A key that cannot be one is an error",
        arguments: [
            DatabaseKey.bytes([]), .bytes(UInt8(0)..<31), .bytes(UInt8(0)..<33), .passphrase(""),
            .passphrase("secret", iterations: 0), .passphrase("secret", iterations: -1),
            .passphrase("secret", iterations: 255_999), .passphrase("secret", iterations: .max),
        ])
    func invalid(key: DatabaseKey) throws {
        #expect(code(opening: key) == .invalidArgument)
        #expect(!FileManager.default.fileExists(atPath: path))
        let db = try Database(path: path, key: bytes)
        let error = #expect(throws: TansuError.self) { try db.rekey(to: key) }
        #expect(error?.code == .invalidArgument)
    }

    @Test("After rekeying only the new key opens the database, and it resumes with it")
    func rekeying() async throws {
        let db = try await Database.open(path: path, key: .passphrase("secret"))
        try await db.collection("people").save(["_id": 1])
        try await db.rekey(to: .passphrase("secreté", iterations: 256_001))
        try await db.suspend()
        #expect(code(opening: .passphrase("secret")) == .wrongKey)
        try await db.resume()
        #expect(try await db.collection("people").find().count() == 1)
        try await db.rekey(to: bytes)
        try await db.close()
        #expect(code(opening: .passphrase("secreté")) == .wrongKey)
        #expect(code(opening: bytes) == nil)
    }

    @Test("A database is encrypted and decrypted in its place")
    func converting() throws {
        let db = try Database(path: path)
        try db.collection("people").save(["_id": 1])
        #expect(throws: TansuError.self) { try Database.encrypt(path, with: bytes) }
        try db.close()
        try Database.encrypt(path, with: bytes)
        #expect(code(opening: bytes) == nil)
        #expect(code(opening: nil) == .encrypted)
        var steps = 0
        try Database.decrypt(path, with: bytes) { _ in steps += 1 }
        #expect(steps > 0)
        #expect(try Database(path: path).collection("people").find().count() == 1)
    }

    @Test("Everything is encrypted anew, and only the new key opens the database")
    func rekeyingEverything() async throws {
        let db = try await Database.open(path: path, key: bytes)
        try await db.collection("people").save((0..<500).map { ["_id": .int32($0)] as BSONDocument })
        try await db.rekeyEverything(to: .passphrase("secret"))
        try await db.suspend()
        try await db.resume()
        #expect(try await db.collection("people").find().count() == 500)
        let keys = try String(contentsOfFile: path + "/KEY", encoding: .utf8)
        #expect(keys.contains("\nkey 2 ") && !keys.contains("\nkey 1 "))
        let error = #expect(throws: TansuError.self) {
            try db.write { _ in try db.rekeyEverything(to: bytes) }
        }
        #expect(error?.code == .invalidState || error?.code == .busy)
        try await db.close()
        #expect(code(opening: bytes) == .wrongKey)
        #expect(code(opening: .passphrase("secret")) == nil)
    }

    @Test("A database that is not encrypted, or is read, has no key to replace")
    func refused() throws {
        let error = #expect(throws: TansuError.self) { try Database(.memory).rekey(to: bytes) }
        #expect(error?.code == .invalidState)
        try Database(path: path, key: bytes).close()
        let reader = try Database(path: path, key: bytes, options: .init(readOnly: true))
        let second = #expect(throws: TansuError.self) { try reader.rekey(to: bytes) }
        #expect(second?.code == .readOnly)
    }

    @Test("A clone has the key of its options")
    func clone() throws {
        let db = try Database(.memory, options: .init(key: bytes))
        try db.collection("people").save(["_id": 1])
        let copy = try db.clone(to: .persistent(path: path), options: .init(key: .passphrase("copy")))
        try copy.close()
        #expect(code(opening: .passphrase("copy")) == nil)
    }

    @Test("Nothing prints a key")
    func printing() throws {
        for key in [bytes, .passphrase("secret")] {
            var options = Database.Options()
            options.key = key
            var text = "\(key) \(String(reflecting: key)) \(options)"
            dump(options, to: &text)
            dump(key, to: &text)
            #expect(!text.contains("secret") && !text.contains("31"), "\(text)")
        }
    }
}
