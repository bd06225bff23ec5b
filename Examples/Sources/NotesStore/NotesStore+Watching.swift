import Tansu

extension NotesStore {
    /// A list now, and again whenever it is another one, with the steps that lead there.
    func watch(_ filter: NoteFilter = .all) throws -> Database.Observation<Note, Database.ListUpdate<Note>> {
        try list(filter).observeChanges()
    }
}
