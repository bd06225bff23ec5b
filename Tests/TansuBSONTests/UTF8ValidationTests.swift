import Testing

@testable import TansuBSON

struct UTF8ValidationTests {
    /// The standard library replaces invalid bytes, so text that it does not change is valid.
    func isValid(_ bytes: [UInt8]) -> Bool {
        String(decoding: bytes, as: UTF8.self).utf8.elementsEqual(bytes)
    }

    func isAccepted(_ bytes: [UInt8]) -> Bool {
        bytes.withUnsafeBytes { $0.firstInvalidUTF8(from: 0, to: $0.count) == nil }
    }

    @Test func everyPairOfBytesIsJudgedAsTheStandardLibraryDoes() {
        for first in 0x7F...UInt8.max {
            for second in UInt8.min ... .max {
                for rest in [[], [0x80], [0xBF, 0xBF], [0x80, 0x41]] as [[UInt8]] {
                    let bytes = [first, second] + rest
                    if isAccepted(bytes) != isValid(bytes) { Issue.record("\(bytes)") }
                }
            }
        }
    }

    @Test func errorsAreFoundAtEveryOffset() {
        let text = Array("plain text, then ünïcödé 日本 🎉 and a tail of plain text again".utf8)
        #expect(isAccepted(text))
        for offset in text.indices {
            var broken = text
            broken[offset] = 0xFF
            let found = broken.withUnsafeBytes { $0.firstInvalidUTF8(from: 0, to: $0.count) }
            // An incomplete sequence is reported at its beginning.
            #expect(found.map { $0 <= offset && $0 > offset - 4 } == true)
        }
        for end in text.indices {
            #expect(isAccepted(Array(text[..<end])) == isValid(Array(text[..<end])))
        }
    }
}
