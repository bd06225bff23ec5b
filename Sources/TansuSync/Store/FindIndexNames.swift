#if TansuSync
    import Crypto
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
#endif
