#if TansuSync
import TansuBSON

/// Takes apart a JSON object while it comes: gives the elements of one array in it, each as soon as it is complete.
struct JSONElements {
    /// The bytes outside of the array's elements.
    private(set) var rest: [UInt8] = []
    private var element: [UInt8] = []
    /// The objects and arrays that are open.
    private var depth = 0
    private var isInString = false
    private var isEscaped = false
    private var isInArray = false
    private var isDone = false
    /// Whether the array has come.
    private(set) var isFound = false
    /// What stands before the array.
    private let key: [UInt8]
    private let limit: Int

    /// - Parameters:
    ///   - name: The member of the object that is the array.
    ///   - limit: The greatest number of bytes of an element, and of all the rest.
    init(of name: StaticString, limit: Int) {
        key = Array("\"\(name)\":".utf8)
        self.limit = limit
    }

    /// Takes the next bytes.
    ///
    /// - Returns: The elements that are complete now.
    /// - Throws: ``RemoteFailure`` when an element is too large.
    mutating func push(_ bytes: [UInt8]) throws(RemoteFailure) -> [[UInt8]] {
        var found: [[UInt8]] = []
        for byte in bytes {
            if isInString {
                keep(byte)
                if isEscaped {
                    isEscaped = false
                } else if byte == UInt8(ascii: "\\") {
                    isEscaped = true
                } else if byte == UInt8(ascii: "\"") {
                    isInString = false
                }
                continue
            }
            switch byte {
            case 0x20, 0x09, 0x0A, 0x0D: break
            case UInt8(ascii: "\""):
                isInString = true
                keep(byte)
            case UInt8(ascii: "["), UInt8(ascii: "{"):
                let begins = depth == 1 && byte == UInt8(ascii: "[") && rest.hasSuffix(key)
                keep(byte)
                depth += 1
                if begins { (isInArray, isFound) = (true, true) }
            case UInt8(ascii: "]"), UInt8(ascii: "}"):
                depth -= 1
                if isInArray, depth == 1 {
                    end(&found)
                    isInArray = false
                }
                keep(byte)
                if depth == 0 { isDone = true }
            case UInt8(ascii: ",") where isInArray && depth == 2: end(&found)
            default: keep(byte)
            }
        }
        guard element.count <= limit, rest.count <= limit else {
            throw .invalidAnswer("One element of its answer has more than \(limit) bytes")
        }
        return found
    }

    /// The object without the array's elements.
    ///
    /// - Throws: ``RemoteFailure`` when it is not complete.
    func finish() throws(RemoteFailure) -> [UInt8] {
        guard rest.isEmpty || rest.first == UInt8(ascii: "{") else {
            throw .invalidAnswer("Its answer is no JSON object")
        }
        guard isDone else { throw .noAnswer("The answer ends in the middle") }
        return rest
    }

    private mutating func keep(_ byte: UInt8) {
        if isInArray { element.append(byte) } else { rest.append(byte) }
    }

    private mutating func end(_ found: inout [[UInt8]]) {
        if !element.isEmpty { found.append(element) }
        element = []
    }
}

extension [UInt8] {
    fileprivate func hasSuffix(_ suffix: [UInt8]) -> Bool {
        count >= suffix.count && self[(count - suffix.count)...].elementsEqual(suffix)
    }
}

// MARK: - BSONValue: member

extension BSONValue {
    /// The member of an object; nil when this is none, or does not have it.
    subscript(name: String) -> BSONValue? { documentValue?[name] }
}
#endif
