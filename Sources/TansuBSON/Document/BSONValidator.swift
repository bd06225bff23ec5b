/// A validator of BSON bytes. It checks structure, lengths, terminators, values, UTF-8 and depth.
struct BSONValidator {
    private let bytes: UnsafeRawBufferPointer

    /// An error and its offset. The path is computed only when an error is reported.
    private struct Violation: Error {
        var code: BSONError.Code
        var message: String
        var offset: Int
    }

    /// Checks that the bytes are exactly one valid document.
    static func validate(_ bytes: UnsafeRawBufferPointer) throws(BSONError) {
        do throws(Violation) {
            try BSONValidator(bytes: bytes).document(at: 0, end: bytes.count, depth: 1)
        } catch {
            throw BSONError(
                error.code, error.message, offset: error.offset, keyPath: path(to: error.offset, in: bytes))
        }
    }

    private func document(at start: Int, end: Int, depth: Int) throws(Violation) {
        guard depth <= BSONDocument.maximumDepth else {
            throw Violation(
                code: .tooDeep, message: "Documents are nested deeper than \(BSONDocument.maximumDepth) levels",
                offset: start)
        }
        guard end - start >= 5, Int(bytes.int32(at: start)) == end - start else {
            throw Violation(
                code: .invalidLength, message: "The length of a document does not match its bytes", offset: start)
        }
        guard bytes[end - 1] == 0 else {
            throw Violation(
                code: .missingTerminator, message: "A document does not end with a zero byte", offset: end - 1)
        }
        var offset = start + 4
        while offset < end - 1 {
            offset = try element(at: offset, end: end - 1, depth: depth)
        }
    }

    /// Checks one element and returns the offset of its end.
    private func element(at offset: Int, end: Int, depth: Int) throws(Violation) -> Int {
        guard let type = BSONType(rawValue: bytes[offset]) else {
            throw Violation(
                code: .invalidType, message: "The type byte 0x\(Hex.encode([bytes[offset]])) is not a BSON type",
                offset: offset)
        }
        guard let keyEnd = bytes.zeroByte(from: offset + 1, to: end) else {
            throw Violation(
                code: .missingTerminator, message: "A key does not end with a zero byte", offset: offset + 1)
        }
        try text(from: offset + 1, to: keyEnd)
        let start = keyEnd + 1
        guard let length = bytes.valueLength(type, at: start, end: end) else {
            throw Violation(
                code: .invalidLength, message: "A value of type \"\(type)\" extends beyond its document",
                offset: start)
        }
        try value(type, from: start, to: start + length, depth: depth)
        return start + length
    }

    private func value(_ type: BSONType, from start: Int, to end: Int, depth: Int) throws(Violation) {
        switch type {
        case .string, .code, .symbol:
            try string(from: start, to: end)
        case .document, .array:
            try document(at: start, end: end, depth: depth + 1)
        case .bool where bytes[start] > 1:
            throw Violation(code: .invalidValue, message: "A boolean is neither 0 nor 1", offset: start)
        case .binary where bytes[start + 4] == BSONBinary.Subtype.oldBinary.rawValue:
            guard end - start >= 9, Int(bytes.int32(at: start + 5)) == end - start - 9 else {
                throw Violation(
                    code: .invalidLength, message: "The inner length of a binary value of subtype 2 is wrong",
                    offset: start + 5)
            }
        case .dbPointer:
            try string(from: start, to: end - 12)
        case .regularExpression:
            // The pattern and the options each end with a zero byte, which is valid in UTF-8.
            try text(from: start, to: end)
        case .codeWithScope:
            let length = bytes.valueLength(.string, at: start + 4, end: end)
            guard let length, end - (start + 4 + length) >= 5 else {
                throw Violation(
                    code: .invalidLength, message: "The length of a code value does not match its code and scope",
                    offset: start + 4)
            }
            try string(from: start + 4, to: start + 4 + length)
            try document(at: start + 4 + length, end: end, depth: depth + 1)
        default:
            break
        }
    }

    private func string(from start: Int, to end: Int) throws(Violation) {
        guard bytes[end - 1] == 0 else {
            throw Violation(
                code: .missingTerminator, message: "A string does not end with a zero byte", offset: end - 1)
        }
        try text(from: start + 4, to: end - 1)
    }

    @inline(__always)
    private func text(from start: Int, to end: Int) throws(Violation) {
        if let offset = bytes.firstInvalidUTF8(from: start, to: end) {
            throw Violation(code: .invalidUTF8, message: "The text is not valid UTF-8", offset: offset)
        }
    }

    /// The dotted path of the innermost field that contains an offset, as far as the bytes can be parsed.
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
