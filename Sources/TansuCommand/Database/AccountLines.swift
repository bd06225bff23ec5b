import Tansu
import TansuBSON

/// The text of a dump, or plain documents one per line, with the hashes of the passwords in accounts instead of these.
final class AccountLines {
    private let source: any ByteSource
    /// The collection of the next line.
    private var collection: String
    /// The beginning of a line.
    private var rest: [UInt8] = []
    private var isAtEnd = false

    /// - Parameter collection: That of plain documents.
    init(_ source: any ByteSource, collection: String?) {
        self.source = source
        self.collection = collection ?? ""
    }

    /// Some lines, or an empty array at the end.
    func next() throws -> [UInt8] {
        while !isAtEnd {
            let chunk = try [UInt8](unsafeUninitializedCapacity: 1 << 16) { memory, count in
                count = try source.read(into: UnsafeMutableRawBufferPointer(memory))
            }
            isAtEnd = chunk.isEmpty
            guard let last = chunk.lastIndex(of: Self.lineFeed) else {
                rest += chunk
                continue
            }
            let lines = rest + chunk[...last]
            rest = Array(chunk[(last + 1)...])
            return try stored(lines)
        }
        defer { rest = [] }
        return try stored(rest)
    }

    private static let lineFeed = UInt8(ascii: "\n")

    /// What is loaded of some lines.
    private func stored(_ lines: [UInt8]) throws -> [UInt8] {
        var result: [UInt8] = []
        result.reserveCapacity(lines.count)
        var start = 0
        while start < lines.count {
            let end = lines[start...].firstIndex(of: Self.lineFeed).map { $0 + 1 } ?? lines.count
            result += try stored(line: lines[start..<end])
            start = end
        }
        return result
    }

    private func stored(line: ArraySlice<UInt8>) throws -> ArraySlice<UInt8> {
        if Self.isControl(line) {
            let document = try? BSONDocument(extendedJSON: String(decoding: line, as: UTF8.self))
            if let name = document?["$collection"]?.documentValue?["name"]?.stringValue { collection = name }
            return line
        }
        guard collection == CommandLimits.accounts else { return line }
        let text = String(decoding: line, as: UTF8.self)
        guard let document = try? BSONDocument(extendedJSON: text) else {
            // It is refused when it is loaded, unless it is a document in an older form.
            guard text.utf8.contains(Self.password) || text.utf8.contains(UInt8(ascii: "\\")) else { return line }
            throw CommandLimits.clearPassword("An account with a password is not extended JSON of version 2")
        }
        let stored = try CommandLimits.here.stored(document, in: collection)
        return stored.bytes == document.bytes ? line : (stored.extendedJSONBytes(.canonical) + [Self.lineFeed])[...]
    }

    private static let password = "password".utf8

    /// Whether the first key begins with a dollar sign, which may be written as an escape.
    private static func isControl(_ line: ArraySlice<UInt8>) -> Bool {
        let isSpace: (UInt8) -> Bool = { $0 == 0x20 || (0x09...0x0D).contains($0) }
        let start = line.drop(while: isSpace)
        guard start.first == UInt8(ascii: "{") else { return false }
        let key = start.dropFirst().drop(while: isSpace)
        return ["\"$dump\"", "\"$collection\"", "\"$end\""].contains { key.starts(with: $0.utf8) }
    }
}
