#if TansuSync
import Foundation
import TansuBSON

/// The headers of a part.
package struct MultipartHead: Sendable, Hashable {
    /// Names as they were sent, and values.
    package var headers: [Header]

    /// One header.
    package struct Header: Sendable, Hashable {
        @BytewiseText package private(set) var name: String
        @BytewiseText package private(set) var value: String
    }

    /// The value of the first header of a name, in whatever case.
    package subscript(name: String) -> String? {
        headers.first { $0.name.asciiLowercased == name.asciiLowercased }?.value
    }

    /// The media type; nil without a Content-Type.
    package var contentType: MediaType? { self["content-type"].map { MediaType($0) } }

    /// The name of the attachment in the part, where the header is well-formed.
    package var filename: String? {
        disposition.flatMap { $0["filename*"].flatMap(Self.decoded) ?? $0["filename"] }
    }

    private var disposition: MediaType? { self["content-disposition"].map { MediaType($0) } }

    /// Whether the head can be that of an attachment: CouchDB writes the name as it is, so that one with a quotation mark or a backslash
    /// reads as another name.
    package func fits(_ name: String) -> Bool {
        if let filename, !filename.isEmpty, filename == name { return true }
        return self["content-disposition"] == "attachment; filename=\"\(name)\""
    }

    /// Text in the form of RFC 5987, such as `UTF-8''%C3%A4`.
    private static func decoded(_ text: String) -> String? {
        let parts = text.utf8.split(separator: UInt8(ascii: "'"), maxSplits: 2, omittingEmptySubsequences: false)
        guard parts.count == 3, String(Substring(parts[0])).asciiLowercased == "utf-8" else { return nil }
        return String(Substring(parts[2])).removingPercentEncoding
    }

    /// Content-Encoding, unless it is `identity`.
    package var contentEncoding: String? {
        self["content-encoding"].flatMap { $0.asciiLowercased == "identity" ? nil : $0.asciiLowercased }
    }

    /// Content-Length.
    func length() throws(MultipartError) -> Int64? {
        guard let text = self["content-length"] else { return nil }
        guard let length = Int64(text), length >= 0, text.utf8.first != UInt8(ascii: "+") else {
            throw MultipartError(.invalidHeader, "The Content-Length \"\(text)\" of a part is no number of bytes")
        }
        return length
    }

    /// Reads the lines of a head without the empty line after them. A line that is no header is left out: CouchDB writes the name of an
    /// attachment as it is, line breaks included.
    init(lines: ArraySlice<UInt8>, maximumCount: Int) throws(MultipartError) {
        headers = []
        var rest = lines
        while !rest.isEmpty {
            let end = rest.indices.first { rest[$0] == 0x0D && $0 + 1 < rest.endIndex && rest[$0 + 1] == 0x0A }
            let line = rest[..<(end ?? rest.endIndex)]
            rest = rest[(end.map { $0 + 2 } ?? rest.endIndex)...]
            guard headers.count < maximumCount else {
                throw MultipartError(.headTooLarge, "A part has more than \(maximumCount) headers")
            }
            if let header = Self.header(line) { headers.append(header) }
        }
    }

    private static func header(_ line: ArraySlice<UInt8>) -> Header? {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon > line.startIndex,
            line[..<colon].allSatisfy({ $0 > 0x20 && $0 < 0x7F })
        else { return nil }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        let value = String(decoding: line[(colon + 1)...], as: UTF8.self)
        return Header(name: name, value: value.trimmingSpaces)
    }
}

/// A parser of one multipart body that is given to it in chunks of any size.
///
/// It holds back at most a head, or what may be the beginning of a boundary.
package struct MultipartParser: Sendable {
    /// What the bytes of a chunk are.
    package enum Event: Sendable, Hashable {
        /// A part begins.
        case part(MultipartHead)
        /// Bytes of the part; never empty.
        case body([UInt8])
        /// The part is complete.
        case partEnd
        /// The last boundary; all later bytes are ignored.
        case end
    }

    /// How large a body may be.
    package struct Limits: Sendable, Hashable {
        /// The bytes of one head.
        package var headBytes = 16 << 10
        /// The headers of one part.
        package var headers = 64
        /// The parts.
        package var parts = 100_000
        /// The bytes of one part.
        package var partBytes = Int64.max

        package init() {}
    }

    private enum State {
        /// Before the first boundary.
        case preamble
        /// After a boundary: the rest of its line.
        case boundaryLine
        case head
        case body
        case end
    }

    private let limits: Limits
    /// A line break, two dashes, the boundary.
    private let delimiter: [UInt8]
    private var state = State.preamble
    /// What is not consumed yet. A boundary at the very beginning has no line break before it, nor has one that
    /// follows a head: so the buffer begins with one that is in no part.
    private var buffer: [UInt8] = [0x0D, 0x0A]
    /// How far the buffer was searched in vain.
    private var searched = 0
    private var parts = 0
    private var length: Int64?
    private var received: Int64 = 0
    /// Whether the line break at the beginning of the buffer belongs to the head.
    private var skipsLineBreak = true

    /// The longest boundary, which RFC 2046 sets, and the most spaces after one.
    private static let maximumBoundary = 70
    private static let maximumPadding = 64

    /// Creates a parser of bodies with a boundary.
    ///
    /// - Throws: ``MultipartError`` when the boundary is empty, longer than 70 characters, or not visible ASCII.
    package init(boundary: String, limits: Limits = Limits()) throws(MultipartError) {
        guard (1...Self.maximumBoundary).contains(boundary.utf8.count),
            boundary.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F }), boundary.utf8.last != 0x20
        else { throw MultipartError(.invalidBoundary, "The boundary of the multipart body is invalid") }
        delimiter = [0x0D, 0x0A, 0x2D, 0x2D] + boundary.utf8
        self.limits = limits
    }

    /// Creates a parser of a body with a media type.
    ///
    /// - Throws: ``MultipartError`` when it is not multipart or has no valid boundary.
    package init(_ type: MediaType, limits: Limits = Limits()) throws(MultipartError) {
        guard type.isMultipart, let boundary = type["boundary"] else {
            throw MultipartError(.invalidBoundary, "The media type \"\(type.name)\" has no multipart boundary")
        }
        try self.init(boundary: boundary, limits: limits)
    }

    /// Takes the next bytes.
    ///
    /// - Returns: What is complete now, and the bytes of the part that is not.
    /// - Throws: ``MultipartError``; the parser cannot be used after it.
    package mutating func push(_ chunk: some Collection<UInt8>) throws(MultipartError) -> [Event] {
        guard state != .end else { return [] }
        buffer.append(contentsOf: chunk)
        var events: [Event] = []
        var position = 0
        while try step(&position, &events) {}
        buffer.removeFirst(position)
        searched = max(0, searched - position)
        return events
    }

    /// Says that there are no more bytes.
    ///
    /// - Throws: ``MultipartError`` when the last boundary is missing.
    package func finish() throws(MultipartError) {
        switch state {
        case .end: return
        case .preamble: throw MultipartError(.missingStart, "The multipart body does not have its boundary")
        default: throw MultipartError(.missingEnd, "The multipart body ends before its last boundary")
        }
    }

    /// Consumes what it can; false when more bytes are needed.
    private mutating func step(_ position: inout Int, _ events: inout [Event]) throws(MultipartError) -> Bool {
        switch state {
        case .preamble, .body: return try content(&position, &events)
        case .boundaryLine: return try boundaryLine(&position, &events)
        case .head: return try head(&position, &events)
        case .end:
            position = buffer.count
            return false
        }
    }

    /// Bytes up to the next boundary.
    private mutating func content(_ position: inout Int, _ events: inout [Event]) throws(MultipartError) -> Bool {
        let start = position
        let found = delimiter(from: max(searched, start))
        try deliver(start..<found.offset, &events)
        position = found.offset
        searched = found.offset
        guard found.isComplete else { return false }
        if state == .body {
            if let length, received != length {
                throw MultipartError(.wrongLength, "A part has \(received) bytes, but its head says \(length)")
            }
            events.append(.partEnd)
        }
        position += delimiter.count
        searched = position
        state = .boundaryLine
        return true
    }

    private mutating func deliver(_ range: Range<Int>, _ events: inout [Event]) throws(MultipartError) {
        guard state == .body else { return }
        var range = range
        if skipsLineBreak, !range.isEmpty {
            // The search begins at the line break, so that either both of its bytes are here or none.
            skipsLineBreak = false
            range = range.lowerBound + 2..<range.upperBound
        }
        guard !range.isEmpty else { return }
        received += Int64(range.count)
        guard received <= limits.partBytes else {
            throw MultipartError(.partTooLarge, "A part has more than \(limits.partBytes) bytes")
        }
        if let length, received > length {
            throw MultipartError(.wrongLength, "A part has more than the \(length) bytes that its head says")
        }
        events.append(.body(Array(buffer[range])))
    }

    /// Where the next boundary begins, or what may become one; the end of the buffer when there is none.
    private func delimiter(from start: Int) -> (offset: Int, isComplete: Bool) {
        buffer.withContiguousStorageIfAvailable { bytes in
            var offset = start
            while let hit = bytes[offset...].firstIndex(of: 0x0D) {
                let available = Swift.min(delimiter.count, bytes.count - hit)
                var matched = 1
                while matched < available, bytes[hit + matched] == delimiter[matched] { matched += 1 }
                if matched == available {
                    guard matched == delimiter.count else { return (hit, false) }
                    switch Self.isLineEnd(bytes[(hit + matched)...]) {
                    case true: return (hit, true)
                    case nil: return (hit, false)
                    default: break
                    }
                }
                offset = hit + 1
            }
            return (bytes.count, false)
        } ?? (buffer.count, false)
    }

    /// Whether what follows a boundary makes it one: two dashes, or spaces and a line break; nil when it is cut off.
    ///
    /// In anything else the boundary is the beginning of a longer one, as of a nested body.
    private static func isLineEnd(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool? {
        if bytes.first == UInt8(ascii: "-") {
            return bytes.count < 2 ? nil : bytes[bytes.startIndex + 1] == UInt8(ascii: "-")
        }
        let rest = bytes.prefix(maximumPadding + 2).drop { $0 == 0x20 || $0 == 0x09 }
        if rest.isEmpty { return bytes.count > maximumPadding ? false : nil }
        guard rest.first == 0x0D else { return false }
        return rest.count < 2 ? (bytes.count > maximumPadding + 1 ? false : nil) : rest[rest.startIndex + 1] == 0x0A
    }

    private mutating func boundaryLine(
        _ position: inout Int, _ events: inout [Event]
    ) throws(MultipartError) -> Bool {
        // The search for the boundary has seen what follows it.
        if buffer[position] == UInt8(ascii: "-") {
            events.append(.end)
            state = .end
            return true
        }
        while buffer[position] != 0x0D { position += 1 }
        parts += 1
        guard parts <= limits.parts else {
            throw MultipartError(.tooManyParts, "The multipart body has more than \(limits.parts) parts")
        }
        // The line break stays: without headers it begins the empty line.
        searched = position
        state = .head
        return true
    }

    /// The headers, up to and with the first byte of the line break of the empty line.
    private mutating func head(_ position: inout Int, _ events: inout [Event]) throws(MultipartError) -> Bool {
        let end = emptyLine(from: max(position, searched))
        guard (end ?? buffer.count) - position <= limits.headBytes else {
            throw MultipartError(.headTooLarge, "The head of a part has more than \(limits.headBytes) bytes")
        }
        guard let end else {
            searched = max(position, buffer.count - 3)
            return false
        }
        let lines = end > position ? buffer[(position + 2)..<end] : []
        let head = try MultipartHead(lines: lines, maximumCount: limits.headers)
        length = try head.length()
        received = 0
        events.append(.part(head))
        // The line break of the empty line may be that of the next boundary.
        position = end + 2
        searched = position
        skipsLineBreak = true
        state = .body
        return true
    }

    /// Where two line breaks follow each other.
    private func emptyLine(from start: Int) -> Int? {
        guard buffer.count - start >= 4 else { return nil }
        return (start...buffer.count - 4).first {
            buffer[$0] == 0x0D && buffer[$0 + 1] == 0x0A && buffer[$0 + 2] == 0x0D && buffer[$0 + 3] == 0x0A
        }
    }
}

/// A parser of multipart bodies whose parts may be multipart bodies themselves, as the answers to `open_revs` are.
package struct MultipartReader: Sendable {
    /// What the bytes of a chunk are.
    package enum Event: Sendable, Hashable {
        /// A part begins that is a multipart body itself. Its parts follow.
        case open(MultipartHead)
        /// A part with bytes begins.
        case part(MultipartHead)
        /// Bytes of the part.
        case body([UInt8])
        /// The part with bytes is complete.
        case partEnd
        /// The nested multipart body is complete.
        case close
        /// The whole body is complete.
        case end
    }

    private var parser: MultipartParser
    private let limits: MultipartParser.Limits
    private let nesting: Int
    /// The reader of the part that is a body itself; at most one element.
    private var inner: [MultipartReader] = []

    /// Creates a reader.
    ///
    /// - Parameters:
    ///   - type: The media type of the body.
    ///   - nesting: How many bodies deep a part can be: 1 for no nested ones.
    /// - Throws: ``MultipartError`` when the media type is not multipart or has no valid boundary.
    package init(
        _ type: MediaType, nesting: Int = 2, limits: MultipartParser.Limits = .init()
    ) throws(MultipartError) {
        parser = try MultipartParser(type, limits: limits)
        self.limits = limits
        self.nesting = nesting
    }

    /// Takes the next bytes.
    ///
    /// - Throws: ``MultipartError``; the reader cannot be used after it.
    package mutating func push(_ chunk: some Collection<UInt8>) throws(MultipartError) -> [Event] {
        var events: [Event] = []
        for event in try parser.push(chunk) {
            switch event {
            case .part(let head):
                guard let type = head.contentType, type.isMultipart else {
                    events.append(.part(head))
                    break
                }
                guard nesting > 1 else {
                    throw MultipartError(.tooDeep, "A part is a multipart body itself, which is not allowed here")
                }
                inner = [try MultipartReader(type, nesting: nesting - 1, limits: limits)]
                events.append(.open(head))
            case .body(let bytes):
                guard !inner.isEmpty else {
                    events.append(.body(bytes))
                    break
                }
                events += try inner[0].push(bytes).filter { $0 != .end }
            case .partEnd:
                guard let reader = inner.popLast() else {
                    events.append(.partEnd)
                    break
                }
                try reader.finish()
                events.append(.close)
            case .end:
                events.append(.end)
            }
        }
        return events
    }

    /// Says that there are no more bytes.
    ///
    /// - Throws: ``MultipartError`` when the last boundary is missing.
    package func finish() throws(MultipartError) { try parser.finish() }
}

/// An error of a multipart body.
package struct MultipartError: Error, Sendable, Hashable {
    /// The kinds of errors.
    package enum Code: String, Sendable, Hashable, CaseIterable {
        /// The media type is not multipart, or has no valid boundary.
        case invalidBoundary
        /// The body has no part with the boundary of its media type.
        case missingStart
        /// The body ends before its last boundary.
        case missingEnd
        /// The Content-Length of a part is no number.
        case invalidHeader
        /// The head of a part is too long or has too many headers.
        case headTooLarge
        /// There are too many parts.
        case tooManyParts
        /// A part has another number of bytes than its head says.
        case wrongLength
        /// A part is larger than it may be.
        case partTooLarge
        /// Multipart bodies are nested too deep.
        case tooDeep
    }

    /// The kind of error.
    package let code: Code
    /// The description of the error.
    package let message: String

    init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }
}

extension MultipartError: CustomStringConvertible {
    /// The message.
    package var description: String { message }
}
#endif
