/// The full check of bytes that come from outside: structure, lengths, terminators, values, UTF-8 and depth.
struct BSONValidator {
    private let bytes: UnsafeRawBufferPointer

    /// A mistake and its offset; the path is found afterwards, so that valid documents do not pay for it.
    private struct Mistake: Error {
        var code: BSONError.Code
        var message: String
        var offset: Int
    }

    /// Checks that the bytes are exactly one valid document.
    static func validate(_ bytes: UnsafeRawBufferPointer) throws(BSONError) {
        do throws(Mistake) {
            try BSONValidator(bytes: bytes).document(at: 0, end: bytes.count, depth: 1)
        } catch {
            throw BSONError(
                error.code, error.message, offset: error.offset, keyPath: path(to: error.offset, in: bytes))
        }
    }

    private func document(at start: Int, end: Int, depth: Int) throws(Mistake) {
        guard depth <= BSONDocument.maximumDepth else {
            throw Mistake(
                code: .tooDeep, message: "documents are nested over \(BSONDocument.maximumDepth) deep", offset: start)
        }
        guard end - start >= 5, Int(bytes.int32(at: start)) == end - start else {
            throw Mistake(
                code: .invalidLength, message: "the length of a document is not that of its bytes", offset: start)
        }
        guard bytes[end - 1] == 0 else {
            throw Mistake(code: .missingTerminator, message: "a document does not end with a zero", offset: end - 1)
        }
        var offset = start + 4
        while offset < end - 1 {
            offset = try element(at: offset, end: end - 1, depth: depth)
        }
    }

    /// Checks one element and returns where it ends.
    private func element(at offset: Int, end: Int, depth: Int) throws(Mistake) -> Int {
        guard let type = BSONType(rawValue: bytes[offset]) else {
            throw Mistake(
                code: .invalidType, message: "0x\(Hex.encode([bytes[offset]])) is not a type of BSON", offset: offset)
        }
        guard let keyEnd = bytes.zeroByte(from: offset + 1, to: end) else {
            throw Mistake(code: .missingTerminator, message: "a key does not end with a zero", offset: offset + 1)
        }
        try text(from: offset + 1, to: keyEnd)
        let start = keyEnd + 1
        guard let length = bytes.valueLength(type, at: start, end: end) else {
            throw Mistake(
                code: .invalidLength, message: "a value of type \(type) does not fit into its document", offset: start)
        }
        try value(type, from: start, to: start + length, depth: depth)
        return start + length
    }

    private func value(_ type: BSONType, from start: Int, to end: Int, depth: Int) throws(Mistake) {
        switch type {
        case .string, .code, .symbol:
            try string(from: start, to: end)
        case .document, .array:
            try document(at: start, end: end, depth: depth + 1)
        case .bool where bytes[start] > 1:
            throw Mistake(code: .invalidValue, message: "a boolean is neither 0 nor 1", offset: start)
        case .binary where bytes[start + 4] == BSONBinary.Subtype.oldBinary.rawValue:
            guard end - start >= 9, Int(bytes.int32(at: start + 5)) == end - start - 9 else {
                throw Mistake(
                    code: .invalidLength, message: "the inner length of a binary of subtype 2 is wrong",
                    offset: start + 5)
            }
        case .dbPointer:
            try string(from: start, to: end - 12)
        case .regularExpression:
            // The pattern and the options each end with a zero, which is valid in UTF-8.
            try text(from: start, to: end)
        case .codeWithScope:
            let length = bytes.valueLength(.string, at: start + 4, end: end)
            guard let length, end - (start + 4 + length) >= 5 else {
                throw Mistake(
                    code: .invalidLength, message: "code and scope do not fill their value", offset: start + 4)
            }
            try string(from: start + 4, to: start + 4 + length)
            try document(at: start + 4 + length, end: end, depth: depth + 1)
        default:
            break
        }
    }

    private func string(from start: Int, to end: Int) throws(Mistake) {
        guard bytes[end - 1] == 0 else {
            throw Mistake(code: .missingTerminator, message: "a string does not end with a zero", offset: end - 1)
        }
        try text(from: start + 4, to: end - 1)
    }

    @inline(__always)
    private func text(from start: Int, to end: Int) throws(Mistake) {
        if let offset = bytes.firstInvalidUTF8(from: start, to: end) {
            throw Mistake(code: .invalidUTF8, message: "text is not valid UTF-8", offset: offset)
        }
    }

    /// The dotted path of the innermost field that contains an offset, as far as the bytes can be walked.
    private static func path(to offset: Int, in bytes: UnsafeRawBufferPointer) -> String? {
        var keys: [String] = []
        var position = 4
        var end = bytes.count - 1
        search: while keys.count <= BSONDocument.maximumDepth, position < end {
            guard BSONType(rawValue: bytes[position]) != nil,
                let keyEnd = bytes.zeroByte(from: position + 1, to: end), keyEnd < offset
            else { break search }
            guard let element = bytes.element(at: position, end: end), element.valueEnd <= offset else {
                let key = UnsafeRawBufferPointer(rebasing: bytes[position + 1..<keyEnd])
                keys.append(String(decoding: key, as: UTF8.self))
                guard let element = bytes.element(at: position, end: end),
                    element.type == .document || element.type == .array
                else { break search }
                position = element.valueStart + 4
                end = element.valueEnd - 1
                continue
            }
            position = element.valueEnd
        }
        return keys.isEmpty ? nil : keys.joined(separator: ".")
    }
}
