#if TansuSync
import Crypto
import Tansu
import TansuBSON

/// The collections of the layer. All begin with `tansu.`.
enum StoreNames {
    /// One document for each replicated collection.
    static let states = CommandLimits.replicationStates

    /// One record for each document that ever was.
    static func revisions(_ name: String) -> String { "tansu.revisions.\(name)" }
    /// Bodies that the collection does not have.
    static func bodies(_ name: String) -> String { "tansu.bodies.\(name)" }
    /// Documents that are not replicated.
    static func local(_ name: String) -> String { "tansu.local.\(name)" }
    /// The attachments of the winners.
    static func attachments(_ name: String) -> String { "tansu.attachments.\(name)" }

    /// The ids of the documents that were saved or removed without the layer and have no revision yet. It is named by the
    /// instance of the replicated collection, and named in the options of the collection: so it shows what became of a
    /// collection that was renamed or replaced.
    static func changes(_ instance: String) -> String { changesPrefix + instance }
    static let changesPrefix = "tansu.changes."

    /// All that belong to a replicated collection.
    static func all(_ name: String) -> [String] {
        [revisions(name), bodies(name), local(name), attachments(name)]
    }
}

/// The collections of Mango's stored indexes.
enum FindIndexNames {
    /// The collection with one document for each stored index: how far it has followed.
    static let states = "tansu.indexes"
    private static let prefix = "tansu.index."
    static let signatureLength = 16

    /// The collection of an index's entries.
    static func entries(_ signature: String, of collection: String) -> String {
        "\(prefix)\(signature).\(suffix(of: collection))"
    }

    /// The greatest number of bytes of a name that is part of another one, for the name of a collection has at most 120.
    private static let longest = 120 - prefix.utf8.count - signatureLength - 1

    /// What stands for a replicated collection: its name, or a digest of one that is too long.
    private static func suffix(of collection: String) -> String {
        guard collection.utf8.count > longest else { return collection }
        let digest = SHA256.hash(data: Array(collection.utf8))
        return "~" + digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }

    /// The `_id` of an index in ``states``.
    static func stateID(_ signature: String, of collection: String) -> BSONValue {
        ["c": .string(collection), "i": .string(signature)]
    }

    /// The signature of the index whose entries are in a collection, if it is an index of this replicated collection.
    static func signature(ofEntries name: String, of collection: String) -> String? {
        guard let rest = name.dropping(prefix: prefix) else { return nil }
        let signature = String(decoding: rest.utf8.prefix(signatureLength), as: UTF8.self)
        return rest == "\(signature).\(suffix(of: collection))" ? signature : nil
    }

    /// Drops the entries of all indexes of a replicated collection but some.
    static func drop(
        _ collection: String, _ transaction: Database.Transaction, keeping signatures: [String] = []
    ) throws {
        for name in try transaction.collectionNames() {
            guard let signature = signature(ofEntries: name, of: collection), !signatures.contains(signature) else {
                continue
            }
            try transaction.dropCollection(name)
            try transaction.collection(states).remove(id: stateID(signature, of: collection))
        }
    }
}

/// The indexes of the design documents that were read last, so that not each query reads their definitions.
final class FindIndexDefinitions: Sendable {
    private let state = Locked<(revisions: [String], indexes: [Mango.Index])>(([], []))

    /// Those of design documents with these revisions and ids, if they were read last.
    func indexes(of revisions: [String]) -> [Mango.Index]? {
        state.withLock { $0.revisions == revisions ? $0.indexes : nil }
    }

    func note(_ indexes: [Mango.Index], of revisions: [String]) {
        state.withLock { $0 = (revisions, indexes) }
    }
}
#endif
