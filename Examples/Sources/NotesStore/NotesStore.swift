import Foundation
import Tansu

/// The data layer of the app. Views use this type and no queries.
struct NotesStore: Sendable {
    let db: Database
    let notes: Database.Collection<Note>

    /// Opens the database in a folder and migrates it if an older release created it.
    init(path: String) throws {
        db = try Database(path: path)
        try db.migrate(Self.migrations)
        notes = try db.collection("notes", of: Note.self)
    }

    /// Inserts a note, or replaces the note with the same id.
    func save(_ note: Note) async throws {
        try await notes.save(note)
    }

    /// Updates the stored note atomically. Returns the new note, or `nil` when the note does not exist.
    @discardableResult
    func edit(
        _ id: Note.ID, at date: Date = Date(), _ change: @escaping @Sendable (inout Note) -> Void
    ) async throws -> Note? {
        try await notes.update(id: id) { note in
            change(&note)
            note.changed = date
        }
    }

    func remove(_ id: Note.ID) async throws {
        try await notes.remove(id: id)
    }

    /// Renames a tag in all notes, in one transaction.
    func renameTag(_ tag: String, to newTag: String) async throws {
        try await db.write { transaction in
            try transaction.collection("notes", of: Note.self).update(["tags": .string(tag)]) { note in
                note.tags = note.tags.map { $0 == tag ? newTag : $0 }
            }
        }
    }

    /// The notes of a list: pinned notes first, then by the date of the last change.
    func list(_ filter: NoteFilter = .all) throws -> Database.Query<Note> {
        try filter.query(notes)
            .sorted(by: \.isPinned, .descending)
            .sorted(by: \.changed, .descending)
    }

    /// The distinct tags of all notes in ascending order.
    func tags() async throws -> [String] {
        try await notes.find().distinct(\.tags)
    }
}

/// A filter for the notes of a list.
enum NoteFilter: Hashable, Sendable {
    case all
    case tagged(String)
    case containing(String)

    func query(_ notes: Database.Collection<Note>) throws -> Database.Query<Note> {
        switch self {
        case .all: notes.find()
        case .tagged(let tag): try notes.find { $0.tags.contains(tag) }
        case .containing(let text): try notes.find { $0.title.contains(text) || $0.text.contains(text) }
        }
    }
}
