#if TansuSync
import Foundation
import Tansu
import TansuBSON
import Testing

@testable import TansuSync

/// The recorded histories of CouchDB through the store: the trees, and which body is where.
@Suite("Store: CouchDB's histories of revisions")
struct StoreOracleTests {
    @Test("Every step leaves the winner's body in the collection and every leaf's body readable")
    func histories() throws {
        let database = try Database(.memory)
        for (number, history) in try RevisionHistory.all().enumerated() {
            let name = "h\(number)"
            let collection = try ReplicatedCollection.open(name, in: database, create: true)
            try collection.write { $0.revsLimit = history.revsLimit }
            for (stepNumber, step) in history.steps.enumerated() {
                let place: Comment = "\(history.id), step \(stepNumber)"
                let pushed = try step.push.map { push in
                    PushedRevision(
                        id: history.id, path: try history.path(push), isDeleted: push.deleted == true,
                        fields: push.deleted == true ? [:] : ["v": .string(push.rev)])
                }
                let errors = try collection.write { try $0.push(pushed) }
                #expect(errors.allSatisfy { $0 == nil }, place)
                try collection.read { store in
                    let record = try #require(try store.document(history.id))
                    #expect(record.tree.leaves.map { history.letters($0.revision) } == step.state.changes, place)
                    #expect(record.isDeleted == (step.state.allDocs == "deleted"), place)
                    for leaf in record.tree.leaves {
                        let body = try #require(try store.body(of: record, leaf.revision), place)
                        #expect(body.isDeleted == leaf.isDeleted, place)
                        if !leaf.isDeleted {
                            #expect(body.fields == ["v": .string(history.letters(leaf.revision))], place)
                        }
                    }
                    let document = try store.transaction.collection(name).get(history.id)
                    #expect(document?["v"]?.stringValue == (record.isDeleted ? nil : step.state.winner), place)
                    let info = store.info()
                    #expect(info.documents == (record.isDeleted ? 0 : 1), place)
                    #expect(info.deletedDocuments == (record.isDeleted ? 1 : 0), place)
                }
            }
        }
    }
}
#endif
