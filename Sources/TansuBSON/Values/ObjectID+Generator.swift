import Foundation

/// What the ids of this process have in common, and the counter that tells them apart.
struct ObjectIDGenerator {
    static let shared = SharedObjectIDGenerator()

    private var process: Int32 = 0
    private var random: UInt64 = 0
    private var counter: UInt32 = 0

    /// Makes the next id.
    ///
    /// - Parameter process: The id of the running process. A child made by `fork` inherits this generator; seeing
    ///   another process id, it draws new random bytes, so parent and child never make the same id.
    mutating func next(seconds: UInt32, process: Int32) -> ObjectID {
        if process != self.process {
            self.process = process
            random = .random(in: 0...0xFF_FFFF_FFFF)
            counter = .random(in: 0...0xFF_FFFF)
        }
        counter = (counter + 1) & 0xFF_FFFF
        return ObjectID(
            high: UInt64(seconds) << 32 | random >> 8, low: UInt32(truncatingIfNeeded: random & 0xFF) << 24 | counter)
    }
}

/// The generator of this process, for any thread.
final class SharedObjectIDGenerator: Sendable {
    private let generator = Locked(ObjectIDGenerator())

    func next() -> ObjectID {
        let seconds = UInt32(truncatingIfNeeded: time(nil))
        let process = getpid()
        return generator.withLock { $0.next(seconds: seconds, process: process) }
    }
}
