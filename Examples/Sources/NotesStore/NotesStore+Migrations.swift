import Tansu

extension NotesStore {
    /// The migrations of all releases, the oldest first. Released migrations never change.
    static var migrations: Database.Migrations {
        var migrations = Database.Migrations()
        migrations.add("first line becomes the title") { step in
            try step.rewrite("notes", ["title": ["$exists": false]]) { note in
                let lines = (note["text"]?.stringValue ?? "").split(separator: "\n", maxSplits: 1)
                note["title"] = .string(lines.first.map(String.init) ?? "")
                note["text"] = .string(lines.dropFirst().first.map(String.init) ?? "")
            }
        }
        migrations.add("tags and pins") { step in
            try step.collection("notes").update([:], ["$set": ["tags": [], "isPinned": false]])
        }
        migrations.add("lists by date and by tag") { step in
            let notes = try step.collection("notes")
            try notes.ensureIndex("by_date", on: ["isPinned": .descending, "changed": .descending])
            try notes.ensureIndex("by_tag", on: ["tags": .ascending])
        }
        return migrations
    }
}
