import Foundation
import TansuBSON
import TansuTestSupport
import Testing

@testable import Tansu

@Suite("Blobs")
struct BlobTests {
    private let folder: TemporaryFolder
    private let database: Database

    init() throws {
        folder = try TemporaryFolder()
        database = try Database(path: folder.path("db.tansu"))
    }

    private func write(
        _ pieces: [[UInt8]], type: String = "x/y", encoding: BlobEncoding = .automatic
    ) throws -> (file: AttachmentFile, writer: BlobWriter) {
        let writer = try BlobWriter(database, contentType: type, encoding: encoding)
        for piece in pieces { try writer.write(piece) }
        return (try writer.finish(name: "f"), writer)
    }

    private func read(_ file: AttachmentFile, _ range: Range<Int64>? = nil, decoded: Bool = true) throws -> [UInt8] {
        try database.read { transaction in
            var reader = try BlobReader(in: transaction, file, range: range, decoded: decoded)
            var bytes: [UInt8] = []
            while let piece = try reader.next() {
                #expect(!piece.isEmpty && piece.count <= BlobLayout.chunkSize)
                bytes += piece
            }
            return bytes
        }
    }

    private func count(_ collection: String) throws -> Int { try database.collection(collection).count() }

    static func random(_ count: Int, _ seed: UInt64 = 5) -> [UInt8] {
        var random = SeededGenerator(seed: seed)
        let words = (0..<(count + 7) / 8).map { _ in random.next() }
        return words.withUnsafeBytes { Array($0.prefix(count)) }
    }

    @Test("Sizes around a chunk and a transaction come back, whole and in ranges")
    func sizes() throws {
        let chunk = BlobLayout.chunkSize
        for size in [0, 1, chunk - 1, chunk, chunk + 1, 2 * chunk, 16 * chunk, 16 * chunk + 5, 33 * chunk + 1] {
            let bytes = Self.random(size)
            let half = size / 2
            let (file, _) = try write([Array(bytes[..<half]), Array(bytes[half...])])
            #expect(file.length == Int64(size) && file.encoding == nil && file.encodedLength == nil)
            #expect(try read(file) == bytes, "\(size)")
            for range in [0..<1, half..<size, max(0, size - 1)..<size, max(0, chunk - 1)..<chunk + 1] {
                guard range.lowerBound < size else { continue }
                let expected = Array(bytes[range.lowerBound..<min(range.upperBound, size)])
                #expect(
                    try read(file, Int64(range.lowerBound)..<Int64(range.upperBound)) == expected,
                    "\(size) \(range)")
            }
            #expect(throws: TansuError.self) { try read(file, Int64(size + 1)..<Int64(size + 2)) }
        }
    }

    #if TansuSync
    @Test("Text is stored as CouchDB stores it, byte by byte")
    func digests() throws {
        // The recorded scenarios attachments and bulk_docs have these digests and lengths.
        let hello = try write([Array("hello".utf8)], type: "text/plain").file
        #expect(hello.digest == "md5-iMaiC8wqiFlD2NjLTemvCQ==")
        #expect(hello.encoding == "gzip" && hello.encodedLength == 25 && hello.length == 5)
        let many = try write([Array("hello hello hello hello hello hello".utf8)], type: "text/plain").file
        #expect(many.digest == "md5-9QXTq/UEr2KUiJRBFKHX3w==")
        let empty = try write([], type: "text/plain").file
        #expect(empty.digest == "md5-cCkGbCesb17xjWYNV0GXmg==" && empty.encodedLength == 20)
        #expect(try write([Array(0...255)]).file.digest == "md5-4shl20Fivtljv6qe9qwY8A==")
        #expect(try read(many) == Array("hello hello hello hello hello hello".utf8))
        #expect(try read(many, 6..<11) == Array("hello".utf8))
        #expect(try read(many, decoded: false).starts(with: [0x1F, 0x8B]))
    }

    @Test("Which media types are compressed")
    func types() {
        for type in [
            "text/plain", "TEXT/html; charset=utf-8", "application/json", "application/javascript;x",
            "application/xml",
        ] {
            #expect(BlobEncoding.compresses(type), "\(type)")
        }
        for type in ["image/png", "application/octet-stream", "", "x/text/plain", "application/json5"] {
            #expect(!BlobEncoding.compresses(type), "\(type)")
        }
    }

    @Test("Bytes that were compressed by somebody else are stored as they are")
    func storedEncoding() throws {
        let gzip = [UInt8](try #require(Data(base64Encoded: "H4sIAAAAAAAAA0vLLCouAQBX7nGSBQAAAA==")))
        let writer = try BlobWriter(database, contentType: "text/plain", encoding: .stored("gzip"))
        try writer.write(gzip)
        let file = try writer.finish(length: 5)
        #expect(file.digest == "md5-e8PonaGug2+bvUVQJoN+rw==" && file.length == 5 && file.encodedLength == 25)
        #expect(try read(file) == Array("first".utf8))
        #expect(try read(file, decoded: false) == gzip)
        // RFC 1952: members one after the other are the bytes of all of them.
        let empty = [UInt8](try #require(Data(base64Encoded: "H4sIAAAAAAAAAwMAAAAAAAAAAAA=")))
        for members in [[gzip + gzip], [gzip, empty, gzip], [empty + gzip + empty, gzip]] {
            let many = try write(members, encoding: .stored("gzip")).file
            #expect(try read(many) == Array("firstfirst".utf8))
        }
    }

    @Test("Bytes that are said to be compressed and are not, or to be of another length, are refused")
    func wrongEncoding() throws {
        let gzip = [UInt8](try #require(Data(base64Encoded: "H4sIAAAAAAAAA0vLLCouAQBX7nGSBQAAAA==")))
        for bytes in [gzip + [0], Array(gzip.dropLast(9)), Array(gzip.dropLast()), [1, 2, 3], []] {
            let error = #expect(throws: TansuError.self) { try write([bytes], encoding: .stored("gzip")) }
            #expect(error?.code == .invalidArgument, "\(bytes)")
        }
        for length in [0, 4, 6, Int64.max] {
            let writer = try BlobWriter(database, contentType: "text/plain", encoding: .stored("gzip"))
            try writer.write(gzip)
            let error = #expect(throws: TansuError.self) { try writer.finish(length: length) }
            #expect(error?.code == .invalidArgument, "\(length)")
        }
        let bounded = try BlobWriter(
            database, contentType: "text/plain", encoding: .stored("gzip"), decodedLimit: 4)
        let error = #expect(throws: TansuError.self) { try bounded.write(gzip) }
        #expect(error?.code == .tooLarge)
        // Nothing of them is left.
        #expect(try database.collection(BlobLayout.blobs).count() == 0)
    }

    @Test("What expands a thousandfold is read in small pieces")
    func expansion() throws {
        let writer = try BlobWriter(database, contentType: "text/plain")
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        for _ in 0..<64 { try writer.write(zeros) }
        let file = try writer.finish()
        #expect(file.storedLength < 100_000)
        var length = 0
        try database.read { transaction in
            var reader = try BlobReader(in: transaction, file)
            while let piece = try reader.next() {
                #expect(piece.count <= BlobLayout.chunkSize)
                length += piece.count
            }
        }
        #expect(length == 64 << 20)
    }
    #endif

    @Test("Equal bytes are stored once, but not those that are compressed otherwise")
    func deduplication() throws {
        let bytes = Self.random(20 * BlobLayout.chunkSize + 3)
        let first = try write([bytes])
        let chunks = try count(BlobLayout.chunks)
        #expect(chunks == 21)
        let second = try write([bytes])
        #expect(second.file == first.file)
        #expect(try count(BlobLayout.chunks) == chunks && count(BlobLayout.blobs) == 1)
        let other = try write([bytes], encoding: .stored("br"))
        #expect(other.file.blob != first.file.blob && other.file.digest == first.file.digest)
        #expect(try count(BlobLayout.blobs) == 2)
    }

    @Test("The MD5 of what was given is known before it is compressed")
    func receivedDigest() throws {
        for type in ["text/plain", "x/y"] {
            let writer = try BlobWriter(database, contentType: type)
            try writer.write(Array("checked".utf8))
            #expect(Data(writer.receivedDigest).base64EncodedString() == "N5PqUqe+LX3q/YWP2lB3XA==")
            _ = try writer.finish()
            #expect(throws: TansuError.self) { try writer.write([1]) }
            #expect(throws: TansuError.self) { try writer.finish() }
        }
    }

    @Test("The sweep removes what nobody names or holds")
    func sweep() throws {
        let bytes = Self.random(20 * BlobLayout.chunkSize)
        var kept: (file: AttachmentFile, writer: BlobWriter)? = try write([bytes])
        // Held by the writer.
        #expect(try BlobSweep.run(database) == BlobSweep.Swept())
        try database.write { transaction in
            try AttachmentRecords.create(for: "people", in: transaction.session)
            let file = try #require(kept?.file)
            try AttachmentRecords(of: "people", in: transaction.session).set([file], of: "mike")
        }
        kept?.writer.release()
        let file = try #require(kept?.file)
        kept = nil
        // Named by a document.
        #expect(try BlobSweep.run(database) == BlobSweep.Swept())
        #expect(try read(file) == bytes)
        try database.write { transaction in
            try AttachmentRecords(of: "people", in: transaction.session).set([], of: "mike")
        }
        #expect(try BlobSweep.run(database) == BlobSweep.Swept(blobs: 1, bytes: Int64(bytes.count)))
        #expect(try count(BlobLayout.chunks) == 0 && count(BlobLayout.blobs) == 0)
        #expect(throws: TansuError.self) { try read(file) }
    }

    @Test("Bodies of revisions keep their files too")
    func bodies() throws {
        let (file, writer) = try write([Self.random(10)])
        writer.release()
        try database.collection(BlobLayout.bodies + "people").save(["_id": 1, "files": [.document(file.bson)]])
        #expect(try BlobSweep.run(database).blobs == 0)
        try database.collection(BlobLayout.bodies + "people").remove(id: 1)
        #expect(try BlobSweep.run(database).blobs == 1)
    }

    @Test("A writer that is abandoned leaves nothing, and one that is at work is not swept")
    func abandoned() throws {
        var writer: BlobWriter? = try BlobWriter(database, contentType: "x/y")
        try writer?.write(Self.random(40 * BlobLayout.chunkSize))
        #expect(try count(BlobLayout.chunks) == 32)
        #expect(try BlobSweep.run(database).blobs == 0)
        #expect(try count(BlobLayout.chunks) == 32)
        writer = nil
        #expect(try count(BlobLayout.chunks) == 0 && count(BlobLayout.blobs) == 0)
    }

    @Test("Missing or damaged chunks and records give an error")
    func damage() throws {
        let bytes = Self.random(3 * BlobLayout.chunkSize + 9)
        let (file, _) = try write([bytes])
        let chunks = try database.collection(BlobLayout.chunks)
        let whole = try chunks.find().all()
        func damaged(_ chunk: BSONDocument) throws {
            #expect { try read(file) } throws: { ($0 as? TansuError)?.code == .corrupt }
            try chunks.save(chunk)
            #expect(try read(file) == bytes)
        }
        for chunk in whole {
            try chunks.remove(id: try #require(chunk["_id"]))
            try damaged(chunk)
            for data: BSONValue in [.binary(BSONBinary([1])), .string("x"), .null] {
                var other = chunk
                other["data"] = data
                try chunks.save(other)
                try damaged(chunk)
            }
        }
        let blobs = try database.collection(BlobLayout.blobs)
        let record = try #require(try blobs.get(file.blob.bson))
        for (key, value) in [("length", BSONValue.int64(-1)), ("chunks", .int32(9)), ("key", nil)]
            as [(String, BSONValue?)]
        {
            var other = record
            other[key] = value
            try blobs.save(other)
            #expect { try read(file) } throws: { ($0 as? TansuError)?.code == .corrupt }
        }
        try blobs.remove(id: file.blob.bson)
        #expect { try read(file) } throws: { ($0 as? TansuError)?.code == .corrupt }
        #expect(throws: TansuError.self) { try AttachmentFile(["name": "x"]) }
    }

    @Test("The stored form of an attachment comes back")
    func storedForm() throws {
        let plain = try write([Self.random(9)]).file
        let text = try write([Self.random(9)], type: "text/plain").file
        for file in [plain, text] { #expect(try AttachmentFile(file.bson) == file) }
    }
}
