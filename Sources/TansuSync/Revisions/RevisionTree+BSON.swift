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

/// Reads the nodes of a tree from their stored form, which may be any bytes.
struct RevisionTreeReader {
    private let bytes: [UInt8]
    private var position = 0

    init(bytes: [UInt8]) { self.bytes = bytes }

    mutating func readNodes() throws(RevisionError) -> [RevisionTree.Node] {
        guard bytes.count <= RevisionTree.maximumStoredSize else { throw corruption("are too long") }
        var nodes: [RevisionTree.Node] = []
        nodes.reserveCapacity(min(bytes.count / 17 + 1, RevisionTree.maximumCount))
        while position < bytes.count {
            guard nodes.count < RevisionTree.maximumCount else { throw corruption("have too many nodes") }
            let node = try readNode(after: nodes)
            nodes.append(node)
        }
        return nodes
    }

    private mutating func readNode(after nodes: [RevisionTree.Node]) throws(RevisionError) -> RevisionTree.Node {
        typealias Flag = RevisionTreeWriter.Flag
        let flags = try readByte()
        guard flags & ~(Flag.status | Flag.text | Flag.followsParent) == 0,
            let status = RevisionStatus(rawValue: flags & Flag.status)
        else { throw corruption("have a node of an unknown kind") }
        let distance = flags & Flag.followsParent != 0 ? 1 : try readNumber()
        guard distance <= nodes.count else { throw corruption("have a node without its parent") }
        let generation: Int
        if distance == 0 {
            generation = try readNumber()
        } else {
            generation = nodes[nodes.count - distance].generation + 1
        }
        guard (1...Revision.maximumGeneration).contains(generation) else {
            throw corruption("have a generation that is none")
        }
        let hash = try readHash(isText: flags & Flag.text != 0)
        let parent = distance == 0 ? RevisionTree.none : Int32(nodes.count - distance)
        return RevisionTree.Node(generation: generation, hash: hash, status: status, parent: parent)
    }

    private mutating func readHash(isText: Bool) throws(RevisionError) -> RevisionHash {
        let count = isText ? Int(try readByte()) : 16
        guard count <= bytes.count - position else { throw corruption("end within a hash") }
        let slice = bytes[position..<position + count]
        position += count
        guard isText else { return .bytes16(of: slice) }
        // Such a text has another form.
        guard count != 16, count != 32, let hash = try? RevisionHash(utf8: slice) else {
            throw corruption("have a hash that is none")
        }
        return hash
    }

    private mutating func readByte() throws(RevisionError) -> UInt8 {
        guard position < bytes.count else { throw corruption("are truncated") }
        defer { position += 1 }
        return bytes[position]
    }

    private mutating func readNumber() throws(RevisionError) -> Int {
        var number = 0
        for shift in stride(from: 0, to: 63, by: 7) {
            let byte = try readByte()
            number |= Int(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return number }
        }
        throw corruption("have a number that is too large")
    }

    private func corruption(_ what: String) -> RevisionError {
        RevisionError(.corruptTree, "The stored revisions \(what), at byte \(position)")
    }
}

/// Writes the nodes of a tree in their stored form.
struct RevisionTreeWriter {
    /// The bits of a node's first byte above its status.
    enum Flag {
        static let status: UInt8 = 0b0011
        static let text: UInt8 = 0b0100
        static let followsParent: UInt8 = 0b1000
    }

    private(set) var bytes: [UInt8] = []

    /// Without recursion: the depth of a tree is only bounded by the number of its nodes.
    mutating func write(_ tree: RevisionTree) {
        bytes.reserveCapacity(tree.count * 17 + 16)
        // First children and following siblings, newest first, so that the oldest is popped first.
        var children: [Int32: [Int32]] = [:]
        var onlyChild = [Int32](repeating: RevisionTree.none, count: tree.count)
        var pending: [Int32] = []
        for (index, node) in tree.nodes.enumerated() {
            if node.parent == RevisionTree.none {
                pending.append(Int32(index))
            } else if tree.nodes[Int(node.parent)].childCount == 1 {
                onlyChild[Int(node.parent)] = Int32(index)
            } else {
                children[node.parent, default: []].append(Int32(index))
            }
        }
        let newestFirst = { (a: Int32, b: Int32) in
            tree.nodes[Int(a)].revision > tree.nodes[Int(b)].revision
        }
        pending.sort(by: newestFirst)
        var positions = [Int32](repeating: 0, count: tree.count)
        var position: Int32 = 0
        while let index = pending.popLast() {
            let node = tree.nodes[Int(index)]
            positions[Int(index)] = position
            let distance = node.parent == RevisionTree.none ? 0 : position - positions[Int(node.parent)]
            write(node, parentDistance: Int(distance))
            position += 1
            if onlyChild[Int(index)] != RevisionTree.none {
                pending.append(onlyChild[Int(index)])
            } else if let siblings = children[index] {
                pending += siblings.sorted(by: newestFirst)
            }
        }
    }

    private mutating func write(_ node: RevisionTree.Node, parentDistance: Int) {
        var flags = node.status.rawValue
        if case .text = node.hash { flags |= Flag.text }
        if parentDistance == 1 { flags |= Flag.followsParent }
        bytes.append(flags)
        if parentDistance != 1 { writeNumber(parentDistance) }
        if parentDistance == 0 { writeNumber(node.generation) }
        switch node.hash {
        case .text(let text):
            bytes.append(UInt8(text.count))
            bytes += text
        case .bytes16(let high, let low):
            withUnsafeBytes(of: (high.bigEndian, low.bigEndian)) { bytes.append(contentsOf: $0) }
        }
    }

    private mutating func writeNumber(_ number: Int) {
        var rest = UInt(number)
        while rest >= 0x80 {
            bytes.append(UInt8(truncatingIfNeeded: rest) | 0x80)
            rest >>= 7
        }
        bytes.append(UInt8(rest))
    }
}
#endif
