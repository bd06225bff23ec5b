#if TansuSync
    import TansuBSON

    /// The stored form of a tree.
    ///
    /// A document has `v`, the version of the form, and `nodes`, bytes with one record for each node. Parents stand before
    /// their children, and trees and siblings are in the order of their revisions, so that equal trees have equal bytes. A
    /// record is
    ///
    /// - one byte: status (bits 0 and 1), whether the hash is text (bit 2), whether the parent is the previous node (bit 3);
    /// - unless bit 3 is set, a number: 0 for a root, or else how many nodes before this one the parent stands;
    /// - for a root, its generation as a number; any other node has that of its parent plus 1;
    /// - the hash: sixteen bytes, or for text one byte with its length and the characters.
    ///
    /// Numbers have seven bits in each byte, the lowest first; all bytes but the last have bit 7 set.
    extension RevisionTree {
        /// The version of the stored form that this library writes.
        static let storedVersion: Int32 = 1
        /// The greatest number of bytes of `nodes`: a document must have space for it.
        static let maximumStoredSize = 15 << 20

        /// The tree as it is stored.
        ///
        /// - Throws: ``RevisionError`` when the tree is too large for a document.
        public func bson() throws(RevisionError) -> BSONDocument { BSONDocument(distinct: try storedFields()) }

        /// The fields of ``bson()``.
        func storedFields() throws(RevisionError) -> [(String, BSONValue)] {
            var writer = RevisionTreeWriter()
            writer.write(self)
            guard writer.bytes.count <= Self.maximumStoredSize else {
                throw RevisionError(
                    .treeTooLarge, "The revisions of the document take more than \(Self.maximumStoredSize) bytes")
            }
            return [("v", .int32(Self.storedVersion)), ("nodes", .binary(BSONBinary(writer.bytes)))]
        }

        /// Reads a stored tree.
        ///
        /// - Throws: ``RevisionError`` when the document is not what ``bson()`` returns.
        public init(bson document: BSONDocument) throws(RevisionError) {
            try self.init(version: document["v"], nodes: document["nodes"])
        }

        /// Reads a tree from the fields of ``bson()``.
        init(version: BSONValue?, nodes stored: BSONValue?) throws(RevisionError) {
            guard case .int32(let version)? = version else {
                throw RevisionError(.corruptTree, "The stored revisions have no version")
            }
            guard version == Self.storedVersion else {
                throw RevisionError(
                    .unknownVersion, "The stored revisions have version \(version), which this library cannot read")
            }
            guard case .binary(let binary)? = stored else {
                throw RevisionError(.corruptTree, "The stored revisions have no nodes")
            }
            var reader = RevisionTreeReader(bytes: binary.bytes)
            self.init(nodes: try reader.readNodes())
            guard leafIndexes.allSatisfy({ nodes[Int($0)].status.isStored }) else {
                throw RevisionError(.corruptTree, "The stored revisions have a leaf without a body")
            }
            guard hasDistinctRevisions else {
                throw RevisionError(.corruptTree, "The stored revisions have the same revision twice")
            }
        }

        private var hasDistinctRevisions: Bool {
            levels.allSatisfy { level in
                var index = level.first
                // Most levels have one node.
                if nodes[Int(index)].nextInLevel == Self.none { return true }
                var hashes: [RevisionHash] = []
                while index != Self.none {
                    hashes.append(nodes[Int(index)].hash)
                    index = nodes[Int(index)].nextInLevel
                }
                hashes.sort()
                return zip(hashes, hashes.dropFirst()).allSatisfy { $0 != $1 }
            }
        }
    }

    extension RevisionTree: Equatable {
        /// Whether two trees have the same revisions with the same parents and statuses.
        public static func == (a: RevisionTree, b: RevisionTree) -> Bool {
            guard a.count == b.count, a.leafCount == b.leafCount else { return false }
            var (written, other) = (RevisionTreeWriter(), RevisionTreeWriter())
            written.write(a)
            other.write(b)
            return written.bytes == other.bytes
        }
    }
#endif
