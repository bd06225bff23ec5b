import Tansu
import TansuBSON

#if TansuSync
    import TansuSync
#endif

// What the library keeps of replicated collections is never loaded over, and their documents are such as can be replicated.
extension OpenDatabase {
    /// The collection with a document for each replicated one.
    static let replicationStates = "tansu.sync"

    /// The names of the replicated collections.
    func replicatedCollections() throws -> Set<BytewiseText> {
        Set(
            try database.collection(Self.replicationStates).find().all().compactMap {
                $0["_id"]?.stringValue.map { BytewiseText($0) }
            })
    }

    /// Whether a collection is replicated.
    func isReplicated(_ collection: String) throws -> Bool {
        try database.collection(Self.replicationStates).get(collection) != nil
    }

    /// - Throws: `CommandError` for a document that the replicated collection cannot have.
    static func checkReplicable(_ document: BSONDocument, in collection: String) throws {
        #if TansuSync
            do { try ReplicatedCollection.validate(document, in: collection) } catch { throw CommandError(error) }
        #endif
    }

    /// Lets all documents of the collections that a load made replicated be compared with their revisions: the numbers of the commits
    /// that were followed are those of another database.
    ///
    /// - Parameter former: Those that were replicated before.
    func followFromStart(except former: Set<BytewiseText>) throws {
        guard try hasCollection(Self.replicationStates) else { return }
        let ids = BSONValue(former.map { .string($0.text) })
        _ = try database.collection(Self.replicationStates).update(
            ["_id": ["$nin": ids]], ["$set": ["followed": .int64(0)]])
    }

    /// - Throws: `CommandError` for a replicated collection, which cannot be replaced by another one.
    func rejectReplacing(_ collection: String) throws {
        guard try isReplicated(collection) else { return }
        throw CommandError(
            code: "REPLICATED",
            message: "The collection \"\(collection)\" is replicated: its history and attachments would be lost",
            path: path,
            remedy: "leave out \"--drop\", or drop it first with \"tansu collections drop\"; nothing was changed",
            status: .invalidInput)
    }
}
