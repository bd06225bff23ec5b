#if TansuServer
import Foundation

/// What the names in recorded answers, such as `<<R1>>`, stand for in this run.
struct Tokens: Sendable {
    private(set) var values: [String: String] = [:]
    /// Digests of compressed attachments: the bytes that a compressor makes are its own affair.
    private var digests: [String: String] = [:]
    /// Where the server listens, instead of where CouchDB did.
    private let address: String

    init(port: Int) { address = "127.0.0.1:\(port)" }

    /// An answer as if the server listened where CouchDB did.
    func restored(_ body: [UInt8]) -> [UInt8] {
        Array(String(decoding: body, as: UTF8.self).replacingOccurrences(of: address, with: Self.recorded).utf8)
    }

    private static let recorded = "127.0.0.1:5984"

    struct Unbound: Error, CustomStringConvertible {
        var description: String
    }

    /// A text with what its names stand for.
    func replaced(_ text: String) throws -> String {
        var out = ""
        for piece in Self.pieces(of: text) {
            switch piece {
            case .text(let text): out += text
            case .name(let name):
                guard let value = value(of: name) else {
                    throw Unbound(description: "<<\(name)>> is not known yet")
                }
                out += value
            }
        }
        return out.replacingOccurrences(of: Self.recorded, with: address)
    }

    /// Whether a text can be what an expected one says. Names that stand for nothing yet are bound.
    mutating func match(_ expected: String, _ text: String) -> Bool {
        let pieces = Self.pieces(of: expected)
        if pieces.count == 1, case .text(let literal) = pieces[0] {
            return literal == text
        }
        guard let bound = bound(pieces[...], text[...], values) else { return false }
        values = bound
        return true
    }

    mutating func matchDigest(_ expected: String, _ text: String) -> Bool {
        if expected == text { return true }
        if let known = digests[expected] { return known == text }
        digests[expected] = text
        return true
    }

    private enum Piece {
        case text(String)
        case name(String)
    }

    private static func pieces(of text: String) -> [Piece] {
        var pieces: [Piece] = []
        var rest = text[...]
        while let start = rest.range(of: "<<"), let end = rest[start.upperBound...].range(of: ">>") {
            if start.lowerBound > rest.startIndex { pieces.append(.text(String(rest[..<start.lowerBound]))) }
            pieces.append(.name(String(rest[start.upperBound..<end.lowerBound])))
            rest = rest[end.upperBound...]
        }
        if !rest.isEmpty || pieces.isEmpty { pieces.append(.text(String(rest))) }
        return pieces
    }

    private func value(of name: String) -> String? {
        guard name.hasSuffix(".hash") else { return values[name] }
        guard let revision = values[String(name.dropLast(5))], let dash = revision.firstIndex(of: "-") else {
            return nil
        }
        return String(revision[revision.index(after: dash)...])
    }

    /// Binds the names of an expected text so that it becomes the given one, from the left to the right.
    private func bound(
        _ pieces: ArraySlice<Piece>, _ text: Substring, _ values: [String: String]
    ) -> [String: String]? {
        guard let first = pieces.first else { return text.isEmpty ? values : nil }
        let rest = pieces.dropFirst()
        let literal: String
        switch first {
        case .text(let text): literal = text
        case .name(let name):
            // The newest cookie counts.
            guard name == "any" || name == "cookie" || value(of: name) == nil else {
                literal = value(of: name) ?? ""
                break
            }
            // The name ends where the next literal text begins.
            let end: Substring.Index
            if case .text(let next)? = rest.first {
                guard let range = text.range(of: next) else { return nil }
                end = range.lowerBound
            } else {
                end = text.endIndex
            }
            let found = text[..<end]
            guard name == "any" || Self.isPossible(found, name) else { return nil }
            var values = values
            if name != "any", !name.hasSuffix(".hash") { values[name] = String(found) }
            return bound(rest, text[end...], values)
        }
        guard text.hasPrefix(literal) else { return nil }
        return bound(rest, text.dropFirst(literal.count), values)
    }

    private static func isPossible(_ text: Substring, _ name: String) -> Bool {
        let digits = text.prefix { $0.isASCII && $0.isNumber }
        let afterDash = text.dropFirst(digits.count + 1)
        switch name.first {
        case "R" where name.hasSuffix(".hash"): return text.count == 32 && text.allSatisfy(\.isHexDigit)
        case "R":
            return !digits.isEmpty && text.dropFirst(digits.count).first == "-" && afterDash.count == 32
                && afterDash.allSatisfy(\.isHexDigit)
        case "S":
            return !digits.isEmpty && (digits.count == text.count || text.dropFirst(digits.count).first == "-")
        case "U": return text.count == 32 && text.allSatisfy(\.isHexDigit)
        default: return !text.isEmpty
        }
    }
}
#endif
