import Tansu

extension NotesStore {
    /// Observes a list: its current notes, and after each commit that affects it the new notes and the changes.
    func observe(_ filter: NoteFilter = .all) throws -> Database.Observation<Note, Database.ListUpdate<Note>> {
        try list(filter).observeChanges()
    }
}
