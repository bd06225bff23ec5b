#if TansuSync
import Foundation
import Tansu
import TansuSync
import TansuTestSupport
import Testing

@Suite("Attachments: the documentation")
struct AttachmentGuideTests {
    @Test("The examples of docs/attachments.md run")
    func examples() async throws {
        let folder = try TemporaryFolder()
        let db = try Database(path: folder.path("db.tansu"))
        let photo = folder.url.appendingPathComponent("photo.png")
        try Data([1, 2, 3, 4]).write(to: photo)

        let people = try db.collection("people")
        try await people.save(["_id": "mike"])
        let mike = people.attachments(of: "mike")

        try await mike.add("likes tea".utf8, name: "notes.txt", type: "text/plain")
        try await mike.add(contentsOf: photo, name: "face.png", type: "image/png")

        for file in try await mike.list() {
            print(file.name, file.contentType, file.length)
        }
        let notes = String(decoding: try await mike.bytes(of: "notes.txt"), as: UTF8.self)
        #expect(notes == "likes tea")
        #expect(try await mike.list().map(\.length) == [9, 4])

        let copy = folder.url.appendingPathComponent("copy.png")
        try Data().write(to: copy)
        let output = try FileHandle(forWritingTo: copy)
        for try await piece in try await mike.stream(of: "face.png") {
            try output.write(contentsOf: piece)
        }
        try output.close()
        #expect(try Data(contentsOf: copy) == Data([1, 2, 3, 4]))

        try inTransaction(db)
        #expect(try await people.attachments(of: "anna").bytes(of: "data.bin") == [1, 2, 3])

        try await people.remove(id: "anna")
        let freed = try await db.removeUnusedAttachments()
        #expect(freed == 3)
    }

    private func inTransaction(_ db: Database) throws {
        try db.write { tx in
            let people = try tx.collection("people")
            try people.save(["_id": "anna"])
            try people.attachments(of: "anna").add([1, 2, 3], name: "data.bin")
        }
    }

    @Test("Every example of the page is here")
    func examplesAreHere() throws {
        let here = URL(fileURLWithPath: #filePath)
        let root = here.deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let page = try String(contentsOf: root.appendingPathComponent("docs/attachments.md"), encoding: .utf8)
        let source = words(try String(contentsOf: here, encoding: .utf8))
        let blocks = page.components(separatedBy: "```swift\n").dropFirst().map {
            $0.components(separatedBy: "```")[0]
        }
        #expect(blocks.count == 4)
        for block in blocks { #expect(source.contains(words(block)), "\(block)") }
    }

    private func words(_ text: String) -> String {
        text.split(whereSeparator: \.isWhitespace).joined(separator: " ")
    }
}
#endif
