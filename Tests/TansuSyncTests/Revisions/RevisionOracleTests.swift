#if TansuSync
import Testing

@testable import TansuSync

/// Every recorded history of CouchDB gives CouchDB's winner, conflicts, leaves and histories.
@Suite struct RevisionOracleTests {
    @Test func everyHistoryIsThatOfCouchDB() throws {
        let histories = try RevisionHistory.all()
        #expect(histories.count == 141)
        var steps = 0
        for history in histories {
            var tree = RevisionTree()
            for (number, step) in history.steps.enumerated() {
                try tree.push(step.push.map { (try history.path($0), $0.deleted == true ? .deleted : .available) })
                tree.stem(to: history.revsLimit)
                compare(tree, step.state, of: history, "\(history.id), step \(number)")
                let stored = try RevisionTree(bson: tree.bson())
                compare(stored, step.state, of: history, "\(history.id), step \(number), stored")
                steps += 1
            }
            try compareAfterCompaction(&tree, of: history)
        }
        #expect(steps == 590)
    }

    private func compare(
        _ tree: RevisionTree, _ state: RevisionHistory.State, of history: RevisionHistory, _ place: String
    ) {
        let letters = history.letters
        #expect(tree.leaves.map { letters($0.revision) } == state.changes, "\(place): changes")
        #expect(tree.winner.map { letters($0.revision) } == state.winner, "\(place): winner")
        #expect(tree.isDeleted == (state.deleted == true), "\(place): deleted")
        #expect(tree.isDeleted == (state.allDocs == "deleted"), "\(place): all_docs")
        switch state.get {
        case .found: #expect(!tree.isDeleted, "\(place): get")
        case .text(let text): #expect(tree.isDeleted && text == "404 deleted", "\(place): get")
        }
        // CouchDB shows none of these for a deleted document.
        #expect((state.conflicts == nil) == tree.isDeleted && (state.revsInfo == nil) == tree.isDeleted, "\(place)")
        if let conflicts = state.conflicts {
            #expect(tree.conflicts.map(letters) == conflicts, "\(place): conflicts")
        }
        if let deleted = state.deletedConflicts {
            #expect(tree.deletedConflicts.map(letters) == deleted, "\(place): deleted_conflicts")
        }
        if let information = state.revsInfo {
            #expect(revisionsInformation(tree, of: history) == information, "\(place): revs_info")
        }
        let leaves = tree.leaves.compactMap { leaf in
            tree.path(of: leaf.revision, limit: history.revsLimit).map { path in
                RevisionHistory.Leaf(
                    rev: letters(leaf.revision), start: path.generation,
                    ids: path.revisions.map { String(letters($0).drop { $0 != "-" }.dropFirst()) },
                    deleted: leaf.isDeleted ? true : nil)
            }
        }
        #expect(leaves.count == state.leaves.count && Set(leaves) == Set(state.leaves), "\(place): leaves")
    }

    private func revisionsInformation(_ tree: RevisionTree, of history: RevisionHistory) -> [String] {
        tree.winner.map { tree.history(of: $0.revision).map { "\(history.letters($0.revision)) \($0.status)" } }
            ?? []
    }

    private func compareAfterCompaction(_ tree: inout RevisionTree, of history: RevisionHistory) throws {
        // CouchDB's compaction also stems.
        _ = tree.compact()
        tree.stem(to: history.revsLimit)
        if let information = history.afterCompact.revsInfo ?? history.steps.last?.state.revsInfo {
            #expect(revisionsInformation(tree, of: history) == information, "\(history.id): after_compact")
        }
        for (text, answer) in history.getRevAfterCompact {
            let status = tree.status(of: try history.revision(text))
            let expected: RevisionStatus? =
                switch answer {
                case "ok": .available
                case "ok deleted": .deleted
                default: nil
                }
            #expect((status == .missing ? nil : status) == expected, "\(history.id): \(text) after compaction")
        }
    }
}
#endif
