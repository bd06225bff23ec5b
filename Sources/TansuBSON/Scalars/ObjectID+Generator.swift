import Foundation

/// The generator of the ids of one process: random bytes that they share, and a counter.
struct ObjectIDGenerator {
    static let shared = SharedObjectIDGenerator()

    private var process: Int32 = 0
    private var random: UInt64 = 0
    private var counter: UInt32 = 0

    /// Generates the next id.
    ///
    /// - Parameter process: The id of the running process. A child created by `fork` inherits the generator. The
    ///   generator draws new random bytes when the process id changes, so parent and child never generate equal ids.
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

/// The generator of this process, which all threads share.
final class SharedObjectIDGenerator: Sendable {
    private let generator = Locked(ObjectIDGenerator())

    func next() -> ObjectID {
        let seconds = UInt32(truncatingIfNeeded: time(nil))
        let process = getpid()
        return generator.withLock { $0.next(seconds: seconds, process: process) }
    }
}
