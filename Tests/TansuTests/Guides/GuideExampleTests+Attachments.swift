import Foundation
import Tansu
import TansuTestSupport
import Testing

// AttachingFiles.md.
extension GuideExampleTests {
    @Test func attachments() async throws {
        var printed = Printed()
        func print(_ items: Any...) { printed.add(items) }
        let folder = try TemporaryFolder()
        let path = folder.path("db.tansu")
        let photo = folder.url.appendingPathComponent("photo.png")
        try Data([1, 2, 3, 4]).write(to: photo)

        let db = try Database(path: path)
        let people = try db.collection("people")
        try await people.save(["_id": "mike"])
        let mike = people.attachments(of: "mike")

        try await mike.add("likes tea".utf8, name: "notes.txt", type: "text/plain")
        try await mike.add(contentsOf: photo, name: "face.png", type: "image/png")

        for file in try await mike.list() {
            print(file.name, file.contentType, file.length)  // notes.txt text/plain 9, face.png image/png 4
        }
        let notes = String(decoding: try await mike.bytes(of: "notes.txt"), as: UTF8.self)
        print(notes)  // likes tea

        let copy = folder.url.appendingPathComponent("copy.png")
        try Data().write(to: copy)
        let output = try FileHandle(forWritingTo: copy)
        for try await piece in try await mike.stream(of: "face.png") {
            try output.write(contentsOf: piece)
        }
        let part = try await mike.bytes(of: "face.png", range: 1..<3)
        print(part)  // [2, 3]
        try output.close()
        #expect(try Data(contentsOf: copy) == Data([1, 2, 3, 4]))

        try await db.write { tx in
            let people = try tx.collection("people")
            try await people.save(["_id": "anna"])
            try await people.attachments(of: "anna").add([1, 2, 3], name: "data.bin")
        }
        #expect(try await people.attachments(of: "anna").bytes(of: "data.bin") == [1, 2, 3])

        try await people.remove(id: "anna")
        let freed = try await db.removeUnusedAttachments()
        print(freed)  // 3

        #expect(try printed.lines == shown(by: "AttachingFiles"))
    }
}
