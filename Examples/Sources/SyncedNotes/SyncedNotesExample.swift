import Checking
import Foundation
import Tansu
import TansuSync

/// Two devices with the notes app, which sync with the server whose URL is the argument.
@main
struct SyncedNotesExample {
    static func main() async throws {
        guard CommandLine.arguments.count == 2 else {
            print("usage: SyncedNotes URL, for example http://127.0.0.1:5984/notes; see the README")
            exit(2)
        }
        let server = CommandLine.arguments[1]
        let folder = FileManager.default.temporaryDirectory.appendingPathComponent("synced-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)

        let phone = try Device("phone", in: folder)
        let laptop = try Device("laptop", in: folder)
        let shopping = try await firstSync(phone, laptop, server)
        try await editTheSameNoteOffline(phone, laptop, shopping, server)
        try await sendAPhoto(phone, laptop, shopping)
        try await removeANote(phone, laptop)
        try await keepACopy(of: laptop, in: folder)
        for device in [phone, laptop] {
            await device.goOffline()
            try await device.db.close()
        }
        print("all checks passed")
    }

    /// The phone writes without a network; the laptop gets it from the server.
    static func firstSync(_ phone: Device, _ laptop: Device, _ server: String) async throws -> Note {
        let shopping = Note(title: "Shopping", items: ["milk"])
        try await phone.notes.save([shopping, Note(title: "Talk")])
        try await phone.goOnline(server)
        try await laptop.goOnline(server)
        try await laptop.wait("has the notes of the phone") { $0.map(\.title) == ["Shopping", "Talk"] }
        return shopping
    }

    static func editTheSameNoteOffline(
        _ phone: Device, _ laptop: Device, _ note: Note, _ server: String
    ) async throws {
        await phone.goOffline()
        await laptop.goOffline()
        try await phone.notes.update(id: note.id) { $0.items.append("bread") }
        try await laptop.notes.update(id: note.id) { $0.items.append("apples") }
        try await phone.goOnline(server)
        try await laptop.goOnline(server)
        for device in [phone, laptop] {
            try await device.wait("has what both have written") { list in
                list.first { $0.id == note.id }?.items == ["apples", "bread", "milk"]
            }
        }
    }

    static func sendAPhoto(_ phone: Device, _ laptop: Device, _ note: Note) async throws {
        let photo = (0..<500_000).map { UInt8(truncatingIfNeeded: $0 &* 2_654_435_761 >> 9) }
        try await phone.notes.attachments(of: note.id).add(photo, name: "photo.jpg", type: "image/jpeg")
        let files = try laptop.notes.attachments(of: note.id)
        for _ in 0..<600 where try await files.attachment("photo.jpg") == nil {
            try await Task.sleep(for: .milliseconds(100))
        }
        let received = try await files.bytes(of: "photo.jpg")
        check(received == photo, "the photo comes whole")
        print("laptop: has the photo")
    }

    static func removeANote(_ phone: Device, _ laptop: Device) async throws {
        let talk = try await laptop.notes.find().all().first { $0.title == "Talk" }
        check(talk != nil, "the laptop has the note")
        if let talk { _ = try await laptop.notes.remove(id: talk.id) }
        try await phone.wait("does not have the note that the laptop has removed") { $0.map(\.title) == ["Shopping"] }
    }

    /// Without a server: the notes in another database of this device.
    static func keepACopy(of device: Device, in folder: URL) async throws {
        let archive = try Database(path: folder.appendingPathComponent("archive.tansu").path)
        let copies = try archive.collection("notes", of: Note.self)
        let progress = try await device.notes.replicate(with: copies, .push).wait()
        let count = try await copies.count()
        check(count == 1 && progress.failedDocuments == 0, "the archive has the note: \(progress)")
        try await archive.close()
    }
}
