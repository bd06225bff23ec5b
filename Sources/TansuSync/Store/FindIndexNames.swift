#if TansuSync
    import Tansu
    import TansuBSON

    /// The collections of Mango's stored indexes.
    enum FindIndexNames {
        /// The collection with one document for each stored index: how far it has followed.
        static let states = "tansu.indexes"
        private static let prefix = "tansu.index."
        static let signatureLength = 16

        /// The collection of an index's entries.
        static func entries(_ signature: String, of collection: String) -> String {
            "\(prefix)\(signature).\(collection)"
        }

        /// The `_id` of an index in ``states``.
        static func stateID(_ signature: String, of collection: String) -> BSONValue {
            ["c": .string(collection), "i": .string(signature)]
        }

        /// The signature of the index whose entries are in a collection, if it is an index of this replicated collection.
        static func signature(ofEntries name: String, of collection: String) -> String? {
            guard name.hasPrefix(prefix) else { return nil }
            let rest = name.dropFirst(prefix.count)
            let signature = rest.prefix(signatureLength)
            guard signature.count == signatureLength, rest.dropFirst(signatureLength) == ".\(collection)" else {
                return nil
            }
            return String(signature)
        }

        /// Drops the entries of all indexes of a replicated collection but some.
        static func drop(
            _ collection: String, _ transaction: Database.Transaction, keeping signatures: Set<String> = []
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
#endif
