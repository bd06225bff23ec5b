import Foundation
import Tansu

/// All that the app does with its notes. Its views know this type, and nothing of queries.
struct NotesStore: Sendable {
    let db: Database
    let notes: Database.Collection<Note>

    /// Opens the notes in a folder, and brings those of older releases up to date.
    init(path: String) throws {
        db = try Database(path: path)
        try db.migrate(Self.migrations)
        notes = try db.collection("notes", of: Note.self)
    }

    /// Adds a note, or changes the one with the same id.
    func save(_ note: Note) async throws {
        try await notes.save(note)
    }

    /// Changes a note as it is now, whoever else changed it in between. Returns it, or `nil` when there is none.
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

    /// Gives a tag another name in all notes, or in none.
    func renameTag(_ tag: String, to newTag: String) async throws {
        try await db.write { transaction in
            try transaction.collection("notes", of: Note.self).update(["tags": .string(tag)]) { note in
                note.tags = note.tags.map { $0 == tag ? newTag : $0 }
            }
        }
    }

    /// The notes of a list: the pinned ones first, then what was changed last.
    func list(_ filter: NoteFilter = .all) throws -> Database.Query<Note> {
        try filter.query(notes)
            .sorted(by: \.isPinned, .descending)
            .sorted(by: \.changed, .descending)
    }

    /// The tags of all notes, in their order.
    func tags() async throws -> [String] {
        try await notes.find().distinct(\.tags)
    }
}

/// Which notes a list shows.
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
