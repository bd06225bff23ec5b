#if TansuSync
import Crypto
#elseif canImport(CryptoKit)
import CryptoKit
#endif

#if TansuSync || canImport(CryptoKit)
/// The hash in the name of a blob.
typealias BlobHash = SHA256
/// The hash in the digest of an attachment.
typealias AttachmentHash = Insecure.MD5
#else
/// The hash in the name of a blob.
typealias BlobHash = PlainSHA256
/// The hash in the digest of an attachment.
typealias AttachmentHash = PlainMD5
#endif

/// SHA-256 (FIPS 180-4), for systems where neither swift-crypto nor CryptoKit is there.
struct PlainSHA256 {
    private var input = HashInput()
    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]

    /// Adds bytes.
    mutating func update(data: [UInt8]) { input.add(data) { Self.mix(&state, $0) } }

    /// The 32 bytes of the hash; more bytes may be added.
    func finalize() -> [UInt8] {
        var (input, state) = (input, state)
        input.end(isBigEndian: true) { Self.mix(&state, $0) }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (24 - 8 * UInt32($0))) } }
    }

    // The loops below are written for builds without optimization too: those inline operators and pointers, not iterators.
    private static func mix(_ state: inout [UInt32], _ block: UnsafePointer<UInt8>) {
        withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { words in
            constants.withUnsafeBufferPointer { constants in
                state.withUnsafeMutableBufferPointer { state in
                    guard let w = words.baseAddress, let k = constants.baseAddress, let h = state.baseAddress else {
                        return
                    }
                    expand(block, into: w)
                    var (a, b, c, d, e, f, g, last) = (h[0], h[1], h[2], h[3], h[4], h[5], h[6], h[7])
                    var round = 0
                    while round < 64 {
                        let s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
                        let t1 = last &+ s1 &+ ((e & f) ^ (~e & g)) &+ k[round] &+ w[round]
                        let s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
                        let t2 = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
                        (last, g, f, e) = (g, f, e, d &+ t1)
                        (d, c, b, a) = (c, b, a, t1 &+ t2)
                        round &+= 1
                    }
                    (h[0], h[1], h[2], h[3]) = (h[0] &+ a, h[1] &+ b, h[2] &+ c, h[3] &+ d)
                    (h[4], h[5], h[6], h[7]) = (h[4] &+ e, h[5] &+ f, h[6] &+ g, h[7] &+ last)
                }
            }
        }
    }

    /// The message schedule of a block.
    private static func expand(_ block: UnsafePointer<UInt8>, into w: UnsafeMutablePointer<UInt32>) {
        var index = 0
        while index < 16 {
            w[index] = UnsafeRawPointer(block + 4 &* index).loadUnaligned(as: UInt32.self).bigEndian
            index &+= 1
        }
        while index < 64 {
            let (x, y) = (w[index &- 15], w[index &- 2])
            let s0 = rotated(x, 7) ^ rotated(x, 18) ^ (x &>> 3)
            let s1 = rotated(y, 17) ^ rotated(y, 19) ^ (y &>> 10)
            w[index] = w[index &- 16] &+ s0 &+ w[index &- 7] &+ s1
            index &+= 1
        }
    }

    @_transparent
    private static func rotated(_ word: UInt32, _ bits: UInt32) -> UInt32 { word &>> bits | word &<< (32 &- bits) }

    /// The fractional parts of the cube roots of the first 64 primes.
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}

/// MD5 (RFC 1321), for systems where neither swift-crypto nor CryptoKit is there. CouchDB's digests of attachments are MD5.
struct PlainMD5 {
    private var input = HashInput()
    private var state: [UInt32] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476]

    /// Adds bytes.
    mutating func update(data: [UInt8]) { input.add(data) { Self.mix(&state, $0) } }

    /// The 16 bytes of the hash; more bytes may be added.
    func finalize() -> [UInt8] {
        var (input, state) = (input, state)
        input.end(isBigEndian: false) { Self.mix(&state, $0) }
        return state.flatMap { word in (0..<4).map { UInt8(truncatingIfNeeded: word >> (8 * UInt32($0))) } }
    }

    private static func mix(_ state: inout [UInt32], _ block: UnsafePointer<UInt8>) {
        sines.withUnsafeBufferPointer { sines in
            shifts.withUnsafeBufferPointer { shifts in
                guard let k = sines.baseAddress, let s = shifts.baseAddress else { return }
                var (a, b, c, d) = (state[0], state[1], state[2], state[3])
                var round = 0
                while round < 64 {
                    let mixed: UInt32
                    let word: Int
                    switch round &>> 4 {
                    case 0: (mixed, word) = ((b & c) | (~b & d), round)
                    case 1: (mixed, word) = ((d & b) | (~d & c), (5 &* round &+ 1) & 15)
                    case 2: (mixed, word) = (b ^ c ^ d, (3 &* round &+ 5) & 15)
                    default: (mixed, word) = (c ^ (b | ~d), (7 &* round) & 15)
                    }
                    let input = UnsafeRawPointer(block + 4 &* word).loadUnaligned(as: UInt32.self).littleEndian
                    let sum = a &+ mixed &+ k[round] &+ input
                    let bits = s[(round &>> 4) &* 4 &+ (round & 3)]
                    (a, d, c, b) = (d, c, b, b &+ (sum &<< bits | sum &>> (32 &- bits)))
                    round &+= 1
                }
                (state[0], state[1]) = (state[0] &+ a, state[1] &+ b)
                (state[2], state[3]) = (state[2] &+ c, state[3] &+ d)
            }
        }
    }

    private static let shifts: [UInt32] = [7, 12, 17, 22, 5, 9, 14, 20, 4, 11, 16, 23, 6, 10, 15, 21]

    /// The whole parts of 2 to the power of 32 times the sine of 1 to 64, without its sign.
    private static let sines: [UInt32] = [
        0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
        0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
        0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
        0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
        0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
        0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
        0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
        0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
    ]
}

/// Cuts what is added to a hash into blocks of 64 bytes.
private struct HashInput {
    /// The beginning of a block.
    private var rest: [UInt8] = []
    private var count: UInt64 = 0

    mutating func add(_ bytes: [UInt8], _ mix: (UnsafePointer<UInt8>) -> Void) {
        count += UInt64(bytes.count)
        var start = 0
        if !rest.isEmpty {
            start = min(64 - rest.count, bytes.count)
            rest += bytes[..<start]
            guard rest.count == 64 else { return }
            rest.withUnsafeBufferPointer { if let block = $0.baseAddress { mix(block) } }
            rest.removeAll(keepingCapacity: true)
        }
        bytes.withUnsafeBufferPointer { bytes in
            guard let first = bytes.baseAddress else { return }
            while bytes.count - start >= 64 {
                mix(first + start)
                start += 64
            }
        }
        rest += bytes[start...]
    }

    /// Adds the padding and the number of bits.
    mutating func end(isBigEndian: Bool, _ mix: (UnsafePointer<UInt8>) -> Void) {
        let bits = isBigEndian ? (count &* 8).bigEndian : (count &* 8).littleEndian
        let zeros = (119 - rest.count) % 64
        add([0x80] + [UInt8](repeating: 0, count: zeros) + withUnsafeBytes(of: bits) { Array($0) }, mix)
    }
}
