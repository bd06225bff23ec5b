#if TansuSync
    import TansuBSON

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
