extension EncoderState {
    /// Sorts the members of a set or a dictionary that the frame holds: fields by their keys, elements of an array by
    /// their types and bytes.
    ///
    /// No frame inside it may be in use.
    func sortMembers<T>(of type: T.Type, _ index: Int32) {
        let frame = frames[Int(index)]
        guard frame.kind == .keyed || frame.kind == .unkeyed, let type = T.self as? any HashOrdered.Type else { return }
        let start = frame.valueStart + 4
        let end = frame.isOpen ? buffer.count : frame.valueStart + Int(buffer.bytes.int32(at: frame.valueStart)) - 1
        let size = frame.kind == .keyed ? 1 : type.elementsPerMember
        var members: [[RawElement]] = []
        var offset = start
        while let element = buffer.bytes.element(at: offset, end: end) {
            if let last = members.indices.last, members[last].count < size {
                members[last].append(element)
            } else {
                members.append([element])
            }
            offset = element.valueEnd
        }
        guard members.count > 1 else { return }
        let bytes = buffer.bytes
        func range(_ member: [RawElement]) -> Range<Int> {
            let first = member[0]
            return frame.kind == .keyed ? first.keyStart..<first.valueStart : first.valueStart..<first.valueEnd
        }
        members.sort { a, b in
            if frame.kind == .unkeyed, a[0].type != b[0].type { return a[0].type.rawValue < b[0].type.rawValue }
            return bytes[range(a)].lexicographicallyPrecedes(bytes[range(b)])
        }
        var sorted = ByteBuffer(capacity: end - start)
        for (position, element) in members.joined().enumerated() {
            sorted.append(element.type.rawValue)
            if frame.kind == .keyed {
                sorted.append(UnsafeRawBufferPointer(rebasing: bytes[element.keyStart..<element.valueStart]))
            } else {
                sorted.append(arrayKey: position)
            }
            sorted.append(UnsafeRawBufferPointer(rebasing: bytes[element.valueStart..<element.valueEnd]))
        }
        buffer.replace(start..<end, with: sorted.array())
    }
}
