#if canImport(CTansuSource)
import CTansuSource
import Foundation

#if canImport(CryptoKit)
import CryptoKit
#endif

/// What the engine lacks that is compiled with the package: regular expressions, which are Foundation's, and on Apple's
/// systems the cipher of encrypted databases, which is CryptoKit's.
///
/// They are ICU's instead of PCRE2's; where these differ says docs/query-language.md.
enum EnginePlatform {
    /// Gives the engine what it lacks. Call it before it compiles a query or a schema.
    static func prepare() { _ = isSet }

    private static let isSet: Bool = {
        var platform = tansu_platform()
        platform.struct_size = UInt32(MemoryLayout<tansu_platform>.size)
        platform.regex_compile = { pattern, size, options, regex, offset, message, messageSize in
            offset?.pointee = -1
            do {
                let expression = try HostExpression(
                    text(pattern, size), letters: options.map { String(cString: $0) } ?? "")
                regex?.pointee = Unmanaged.passRetained(expression).toOpaque()
                return TANSU_OK
            } catch {
                copy("Foundation does not accept it", to: message, messageSize)
                return TANSU_E_INVALID_QUERY
            }
        }
        platform.regex_matches = { expression, bytes, size in
            guard let expression else { return Int32(TANSU_REGEX_STEPS) }
            return Unmanaged<HostExpression>.fromOpaque(expression).takeUnretainedValue().matches(text(bytes, size))
        }
        platform.regex_groups = { expression in
            guard let expression else { return 0 }
            return Unmanaged<HostExpression>.fromOpaque(expression).takeUnretainedValue().groups
        }
        platform.regex_find = { expression, bytes, size, from, spans, count in
            guard let expression else { return Int32(TANSU_REGEX_STEPS) }
            return Unmanaged<HostExpression>.fromOpaque(expression).takeUnretainedValue().find(
                text(bytes, size), from: from, spans: UnsafeMutableBufferPointer(start: spans, count: 2 * count))
        }
        platform.regex_free = { expression in
            if let expression { Unmanaged<HostExpression>.fromOpaque(expression).release() }
        }
        #if canImport(CryptoKit)
        setCipher(&platform)
        #endif
        return tansu_platform_set(&platform, nil) == TANSU_OK
    }()

    #if canImport(CryptoKit)
    private static func setCipher(_ platform: inout tansu_platform) {
        platform.gcm_seal = { key, nonce, aad, aadSize, plain, size, out, tag in
            do {
                let box = try AES.GCM.seal(
                    bytes(plain, size), using: SymmetricKey(data: bytes(key, 32)),
                    nonce: AES.GCM.Nonce(data: bytes(nonce, 12)), authenticating: bytes(aad, aadSize))
                copy(box.ciphertext, to: out)
                copy(box.tag, to: tag)
                return TANSU_OK
            } catch {
                return TANSU_E_MEMORY
            }
        }
        platform.gcm_open = { key, nonce, aad, aadSize, sealed, size, tag, out in
            do {
                let box = try AES.GCM.SealedBox(
                    nonce: AES.GCM.Nonce(data: bytes(nonce, 12)), ciphertext: bytes(sealed, size),
                    tag: bytes(tag, 16))
                copy(
                    try AES.GCM.open(
                        box, using: SymmetricKey(data: bytes(key, 32)), authenticating: bytes(aad, aadSize)),
                    to: out)
                return TANSU_OK
            } catch {
                return TANSU_E_CORRUPT
            }
        }
    }

    private static func bytes(_ start: UnsafeRawPointer?, _ size: Int) -> UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: start, count: size)
    }

    private static func copy(_ data: Data, to out: UnsafeMutablePointer<UInt8>?) {
        if let out { data.copyBytes(to: out, count: data.count) }
    }
    #endif

    private static func text(_ bytes: UnsafePointer<CChar>?, _ size: Int) -> String {
        String(decoding: UnsafeRawBufferPointer(start: bytes, count: size), as: UTF8.self)
    }

    private static func copy(_ text: String, to buffer: UnsafeMutablePointer<CChar>?, _ size: Int) {
        guard let buffer, size > 0 else { return }
        let bytes = text.utf8.prefix(size - 1)
        for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
        buffer[bytes.count] = 0
    }
}

/// A regular expression of Foundation.
private final class HostExpression: Sendable {
    /// ICU tells its progress after some thousands of steps: after so many times a match is given up.
    private static let mostReports = 500

    private let expression: NSRegularExpression

    init(_ pattern: String, letters: String) throws {
        // A line ends with "\n" only, as in PCRE2.
        var options: NSRegularExpression.Options = [.useUnixLineSeparators]
        for letter in letters.utf8 {
            switch letter {
            case UInt8(ascii: "i"): options.insert(.caseInsensitive)
            case UInt8(ascii: "m"): options.insert(.anchorsMatchLines)
            case UInt8(ascii: "s"): options.insert(.dotMatchesLineSeparators)
            default: options.insert(.allowCommentsAndWhitespace)
            }
        }
        // Foundation takes no empty one.
        expression = try NSRegularExpression(pattern: pattern.isEmpty ? "(?:)" : pattern, options: options)
    }

    /// The number of groups that capture.
    var groups: Int { expression.numberOfCaptureGroups }

    /// One of the results that tansu.h names.
    func matches(_ text: String) -> Int32 {
        first(in: text, range: NSRange(location: 0, length: text.utf16.count), options: []).result
    }

    /// The same, and where the first match from a byte on and its groups are: the bytes at which each begins and ends,
    /// -1 for a group that took no part.
    func find(_ text: String, from: Int, spans: UnsafeMutableBufferPointer<Int>) -> Int32 {
        let utf8 = text.utf8
        let start = utf8.index(utf8.startIndex, offsetBy: from).utf16Offset(in: text)
        let (result, match) = first(
            in: text, range: NSRange(location: start, length: text.utf16.count - start),
            options: [.withTransparentBounds, .withoutAnchoringBounds])
        guard let match else { return result }
        func byte(_ offset: Int) -> Int {
            utf8.distance(from: utf8.startIndex, to: String.Index(utf16Offset: offset, in: text))
        }
        for group in 0..<spans.count / 2 {
            let range = match.range(at: group)
            let isThere = range.location != NSNotFound
            spans[2 * group] = isThere ? byte(range.location) : -1
            spans[2 * group + 1] = isThere ? byte(range.location + range.length) : -1
        }
        return result
    }

    private func first(
        in text: String, range: NSRange, options: NSRegularExpression.MatchingOptions
    ) -> (result: Int32, match: NSTextCheckingResult?) {
        var result = Int32(TANSU_REGEX_NO_MATCH)
        var found: NSTextCheckingResult?
        var reports = 0
        expression.enumerateMatches(in: text, options: options.union(.reportProgress), range: range) {
            match, flags, stop in
            reports += 1
            if match != nil {
                found = match
                result = Int32(TANSU_REGEX_MATCH)
            } else if flags.contains(.internalError) || reports > Self.mostReports {
                result = Int32(TANSU_REGEX_STEPS)
            } else {
                return
            }
            stop.pointee = true
        }
        return (result, found)
    }
}
#else
enum EnginePlatform {
    /// The installed engine has everything.
    static func prepare() {}
}
#endif
