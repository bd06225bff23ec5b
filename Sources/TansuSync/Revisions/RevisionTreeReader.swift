#if TansuSync
    import TansuBSON

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
#endif
