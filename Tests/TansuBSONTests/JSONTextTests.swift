import Testing

@testable import TansuBSON

@Suite("Text of JSON, eight bytes at a time")
struct JSONTextTests {
    @Test("Every byte at every place is found where looking at each byte finds it")
    func everyByte() {
        var differences = 0
        for length in 0...17 {
            for place in 0..<max(length, 1) {
                for byte in UInt8.min...UInt8.max {
                    var text = [UInt8](repeating: place % 2 == 0 ? 0x61 : 0x20, count: length)
                    if place < length { text[place] = byte }
                    // Bytes near to those that are looked for, after one that is.
                    for index in text.indices where index > place { text[index] = [0x23, 0x21, 0x5D, 0x7F][index % 4] }
                    text.withUnsafeBytes { text in
                        for start in 0...length {
                            let expected = (start..<length).first {
                                text[$0] < 0x20 || text[$0] == UInt8(ascii: "\"") || text[$0] == UInt8(ascii: "\\")
                            }
                            if text.firstToEscape(from: start) != expected { differences += 1 }
                            let isASCII = text[start...].allSatisfy { $0 < 0x80 }
                            if text.isASCII(from: start, to: length) != isASCII { differences += 1 }
                        }
                    }
                }
            }
        }
        #expect(differences == 0)
    }
}
