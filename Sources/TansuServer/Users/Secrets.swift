#if TansuServer
    import Crypto
    import Foundation
    import TansuBSON

    /// Compares without revealing by the time it takes how much is equal; only the lengths may be learned.
    func isEqualInConstantTime(_ a: some Collection<UInt8>, _ b: some Collection<UInt8>) -> Bool {
        guard a.count == b.count else { return false }
        return zip(a, b).reduce(0 as UInt8) { $0 | ($1.0 ^ $1.1) } == 0
    }

    /// Bytes from the system's random generator.
    func randomBytes(_ count: Int) -> [UInt8] {
        SymmetricKey(size: SymmetricKeySize(bitCount: count * 8)).withUnsafeBytes { Array($0) }
    }

    func randomHex(byteCount: Int) -> String { hex(randomBytes(byteCount)) }

    /// Lower-case hex digits.
    func hex(_ bytes: some Sequence<UInt8>) -> String {
        let digits = Array("0123456789abcdef".utf8)
        return String(decoding: bytes.flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }, as: UTF8.self)
    }

    /// Nil when the text is not pairs of hex digits.
    func bytes(hex text: String) -> [UInt8]? {
        let digits = text.utf8.map { hexValue($0) }
        guard digits.count.isMultiple(of: 2), !digits.contains(nil) else { return nil }
        let values = digits.compactMap { $0 }
        return stride(from: 0, to: values.count, by: 2).map { values[$0] << 4 | values[$0 + 1] }
    }

    /// The authentication code of a message.
    func hmac(_ message: String, key: some Sequence<UInt8>) -> [UInt8] {
        Array(HMAC<SHA256>.authenticationCode(for: Data(message.utf8), using: SymmetricKey(data: Array(key))))
    }
#endif
