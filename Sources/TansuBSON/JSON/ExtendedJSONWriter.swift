import Foundation

/// A writer of BSON bytes as extended JSON.
///
/// It keeps open documents in an array rather than on the call stack, so that deep nesting cannot overflow the stack.
struct ExtendedJSONWriter: ~Copyable {
    /// What is written for the types that JSON lacks.
    enum Form {
        case canonical
        case relaxed
        /// As relaxed, but a decimal that is an integer beyond 64 bits is a number.
        case wire
        /// Text and numbers; only types without a usual form are written as in relaxed.
        case plain
    }

    private var bytes: UnsafeRawBufferPointer
    private let form: Form
    private let isPretty: Bool
    /// Whether a UUID is written as its text, which is read as a UUID too.
    private let showsUUIDs: Bool
    private var out: ByteBuffer
    private var open: [Level] = []

    private struct Level {
        var offset: Int
        var end: Int
        var isArray: Bool
        var isFirst = true
        /// Whether the document is the scope of a code value, whose wrapper ends after it.
        var isScope = false
        /// Whether the members are written without braces.
        var isBare = false
    }

    init(_ bytes: UnsafeRawBufferPointer, format: ExtendedJSONFormat, isPretty: Bool, showsUUIDs: Bool = false) {
        self.bytes = bytes
        form = format == .relaxed ? .relaxed : .canonical
        self.isPretty = isPretty
        self.showsUUIDs = showsUUIDs
        out = ByteBuffer(capacity: 512)
    }

    /// Creates a writer of several documents and of text around them.
    init(_ form: Form, capacity: Int) {
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
        self.form = form
        isPretty = false
        showsUUIDs = false
        out = ByteBuffer(capacity: capacity)
    }

    var count: Int { out.count }

    consuming func finish() -> [UInt8] { out.array() }

    mutating func raw(_ text: UnsafeRawBufferPointer) { out.append(text) }

    mutating func raw(utf8 text: String) { out.append(utf8: text) }

    mutating func integer(_ value: Int64) { out.append(utf8: String(value)) }

    /// Writes the members of a document without its braces.
    mutating func write(membersOf document: UnsafeRawBufferPointer, followsMember: Bool) {
        bytes = document
        open.append(
            Level(offset: 4, end: document.count - 1, isArray: false, isFirst: !followsMember, isBare: true))
        writeOpen()
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    /// Writes the value of the only element in these bytes.
    mutating func write(elementIn element: UnsafeRawBufferPointer) {
        bytes = element
        write(elementAt: 0)
        bytes = UnsafeRawBufferPointer(start: nil, count: 0)
    }

    mutating func write(documentAt start: Int, isArray: Bool) {
        begin(start, bytes.count, isArray: isArray, isScope: false)
        writeOpen()
    }

    /// Writes the value of the element at an offset.
    mutating func write(elementAt offset: Int) {
        guard let element = bytes.element(at: offset, end: bytes.count - 1) else { return }
        value(element)
        writeOpen()
    }

    private mutating func writeOpen() {
        while let level = open.last {
            guard level.offset < level.end, let element = bytes.element(at: level.offset, end: level.end) else {
                end(level)
                continue
            }
            open[open.count - 1].offset = element.valueEnd
            open[open.count - 1].isFirst = false
            if !level.isFirst { out.append(UInt8(ascii: ",")) }
            newLine(open.count)
            if !level.isArray {
                key(of: element, isFirst: level.isFirst)
                out.append(UInt8(ascii: ":"))
                if isPretty { out.append(UInt8(ascii: " ")) }
            }
            value(element)
        }
    }

    private mutating func begin(_ start: Int, _ end: Int, isArray: Bool, isScope: Bool) {
        out.append(isArray ? UInt8(ascii: "[") : UInt8(ascii: "{"))
        open.append(Level(offset: start + 4, end: end - 1, isArray: isArray, isScope: isScope))
    }

    private mutating func end(_ level: Level) {
        open.removeLast()
        if level.isBare { return }
        if !level.isFirst { newLine(open.count) }
        out.append(level.isArray ? UInt8(ascii: "]") : UInt8(ascii: "}"))
        if level.isScope { out.append(UInt8(ascii: "}")) }
    }

    private mutating func newLine(_ depth: Int) {
        guard isPretty else { return }
        out.append(UInt8(ascii: "\n"))
        for _ in 0..<depth { out.append(utf8: "  ") }
    }

    private mutating func value(_ element: RawElement) {
        let at = element.valueStart
        switch element.type {
        case .document, .array:
            begin(at, element.valueEnd, isArray: element.type == .array, isScope: false)
        case .string:
            string(at: at)
        case .bool:
            out.append(utf8: bytes[at] != 0 ? "true" : "false")
        case .null:
            out.append(utf8: "null")
        case .int32:
            number(String(bytes.int32(at: at)), "$numberInt")
        case .int64:
            number(String(bytes.int64(at: at)), "$numberLong")
        case .double:
            double(bytes.double(at: at))
        case .date:
            date(bytes.int64(at: at))
        case .code, .symbol:
            if form == .plain {
                string(at: at)
            } else {
                wrapped(element.type == .code ? "$code" : "$symbol", stringAt: at)
            }
        case .objectID:
            wrapped("$oid", bytes.objectID(at: at).hexString)
        case .decimal128:
            decimal(bytes.decimal128(at: at))
        case .undefined:
            out.append(utf8: form == .plain ? "null" : #"{"$undefined":true}"#)
        case .minKey:
            out.append(utf8: #"{"$minKey":1}"#)
        case .maxKey:
            out.append(utf8: #"{"$maxKey":1}"#)
        case .timestamp:
            let value = BSONTimestamp(rawValue: UInt64(bitPattern: bytes.int64(at: at)))
            out.append(utf8: #"{"$timestamp":{"t":\#(value.seconds),"i":\#(value.increment)}}"#)
        case .binary, .regularExpression, .dbPointer, .codeWithScope:
            compound(element)
        }
    }

    private mutating func compound(_ element: RawElement) {
        let at = element.valueStart
        switch element.type {
        case .binary:
            let binary = bytes.binary(element)
            if showsUUIDs, let uuid = binary.uuid {
                wrapped("$uuid", uuid.uuidString)
                return
            }
            if form == .plain {
                wrapped("$binary", binary.data.base64EncodedString())
                return
            }
            let subtype = Hex.encode([binary.subtype.rawValue])
            out.append(
                utf8: #"{"$binary":{"base64":"\#(binary.data.base64EncodedString())","subType":"\#(subtype)"}}"#)
        case .regularExpression:
            let expression = bytes.regularExpression(element)
            out.append(utf8: #"{"$regularExpression":{"pattern":"#)
            string(expression.pattern)
            out.append(utf8: #","options":"#)
            string(expression.options)
            out.append(utf8: "}}")
        case .dbPointer:
            out.append(utf8: #"{"$dbPointer":{"$ref":"#)
            string(at: at)
            out.append(utf8: #","$id":{"$oid":"\#(bytes.objectID(at: element.valueEnd - 12).hexString)"}}}"#)
        default:
            guard let scope = bytes.scopeStart(element) else {
                out.append(utf8: "null")
                return
            }
            out.append(utf8: #"{"$code":"#)
            string(at: at + 4)
            out.append(utf8: #","$scope":"#)
            begin(scope, element.valueEnd, isArray: false, isScope: true)
        }
    }

    private mutating func number(_ text: String, _ wrapper: String) {
        if form == .canonical {
            wrapped(wrapper, text)
        } else {
            out.append(utf8: text)
        }
    }

    private mutating func decimal(_ value: Decimal128) {
        if form == .plain {
            if value.isNaN || value.isInfinite {
                out.append(utf8: "null")
            } else if Double(value.description)?.isFinite == true {
                out.append(utf8: value.description)
            } else {
                // Other readers of JSON refuse numbers that no double is near to.
                string(value.description)
            }
        } else if form == .wire, let integer = value.wireInteger {
            out.append(utf8: integer)
        } else {
            wrapped("$numberDecimal", value.description)
        }
    }

    private mutating func double(_ value: Double) {
        if form == .plain, !value.isFinite {
            out.append(utf8: "null")
        } else if value.isNaN {
            wrapped("$numberDouble", "NaN")
        } else if value.isInfinite {
            wrapped("$numberDouble", value < 0 ? "-Infinity" : "Infinity")
        } else if form == .wire || form == .plain {
            out.append(utf8: value.description)
        } else {
            number(value.description.uppercased(), "$numberDouble")
        }
    }

    private mutating func date(_ milliseconds: Int64) {
        if form == .plain {
            out.append(utf8: ISO8601.text(milliseconds).map { "\"\($0)\"" } ?? String(milliseconds))
        } else if form != .canonical, milliseconds >= 0, let text = ISO8601.text(milliseconds) {
            wrapped("$date", text)
        } else {
            out.append(utf8: #"{"$date":{"$numberLong":"\#(milliseconds)"}}"#)
        }
    }

    /// Writes a wrapper, or only its text in the plain form. The text needs no escaping.
    private mutating func wrapped(_ key: String, _ text: String) {
        if form == .plain {
            out.append(UInt8(ascii: "\""))
            out.append(utf8: text)
            out.append(UInt8(ascii: "\""))
            return
        }
        out.append(utf8: #"{"\#(key)":"\#(text)"}"#)
    }

    private mutating func wrapped(_ key: String, stringAt offset: Int) {
        out.append(utf8: #"{"\#(key)":"#)
        string(at: offset)
        out.append(UInt8(ascii: "}"))
    }

    // MARK: Strings

    /// Writes a key. One that would make its document represent another type is written with an escape of its "$".
    private mutating func key(of element: RawElement, isFirst: Bool) {
        let text = UnsafeRawBufferPointer(
            rebasing: bytes[element.keyStart..<element.keyStart + element.keyLength])
        guard isFirst, form == .canonical || form == .relaxed, text.first == UInt8(ascii: "$"),
            let wrapper = ExtendedJSONWrapper(
                firstKey: String(decoding: text, as: UTF8.self), acceptsVersion1: false),
            wrapper != .regexOperator
        else { return escaped(text) }
        out.append(utf8: "\"\\u0024")
        body(UnsafeRawBufferPointer(rebasing: text.dropFirst()))
    }

    private mutating func string(at offset: Int) {
        string(from: offset + 4, to: offset + 3 + Int(bytes.int32(at: offset)))
    }

    private mutating func string(from start: Int, to end: Int) {
        escaped(UnsafeRawBufferPointer(rebasing: bytes[start..<end]))
    }

    mutating func string(_ text: String) {
        var text = text
        text.withUTF8 { escaped(UnsafeRawBufferPointer($0)) }
    }

    private mutating func escaped(_ text: UnsafeRawBufferPointer) {
        out.append(UInt8(ascii: "\""))
        body(text)
    }

    /// Writes a text and the quote after it.
    private mutating func body(_ text: UnsafeRawBufferPointer) {
        var runStart = 0
        var i = 0
        while let special = text.firstToEscape(from: i) {
            i = special
            out.append(UnsafeRawBufferPointer(rebasing: text[runStart..<i]))
            runStart = i + 1
            out.append(UInt8(ascii: "\\"))
            switch text[i] {
            case 0x08: out.append(UInt8(ascii: "b"))
            case 0x09: out.append(UInt8(ascii: "t"))
            case 0x0A: out.append(UInt8(ascii: "n"))
            case 0x0C: out.append(UInt8(ascii: "f"))
            case 0x0D: out.append(UInt8(ascii: "r"))
            case 0..<0x20: out.append(utf8: "u00" + Hex.encode([text[i]]))
            default: out.append(text[i])
            }
            i += 1
        }
        out.append(UnsafeRawBufferPointer(rebasing: text[runStart...]))
        out.append(UInt8(ascii: "\""))
    }
}
