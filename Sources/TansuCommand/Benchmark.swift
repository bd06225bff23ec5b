import Foundation
import Tansu
import TansuBSON

/// Measurements of a database on this machine, beside what the machine itself can do.
struct Benchmark {
    struct Result {
        let name: String
        let count: Int
        let duration: Duration
        /// How many bytes each of them read or wrote, where that says something.
        var bytes = 0
        /// The measurement of the machine that bounds this one.
        var floor: String?

        var seconds: Double {
            let parts = duration.components
            return max(Double(parts.seconds) + Double(parts.attoseconds) / 1e18, 1e-9)
        }
        var perSecond: Double { Double(count) / seconds }
        var bytesPerSecond: Double { perSecond * Double(bytes) }
    }

    /// The folder for the database and the file of the machine's own measurement.
    let folder: URL
    /// How long each measurement takes.
    let time: Duration

    private static let documents = 100_000
    static let syncName = "fdatasync of 4 KiB in place"
    static let memoryName = "memory read"

    /// Runs all measurements.
    /// - Parameter done: Receives each result.
    func run(_ done: (Result) throws -> Void) throws {
        try done(try syncs())
        try done(memory())
        let database = try Database(
            path: folder.appendingPathComponent("bench.tansu").path, options: .init(durability: .full))
        let collection = try database.collection("bench")
        var saved = 0
        try done(
            measure("insert, 1000 in a commit", per: 1000, until: Self.documents) { _ in
                _ = try collection.insert((saved..<saved + 1000).map(Self.document))
                saved += 1000
            })
        var commit = saved
        var commits = try measure("durable commit of a document") { _ in
            _ = try collection.insert([Self.document(commit)])
            commit += 1
        }
        commits.floor = Self.syncName
        try done(commits)
        try collection.ensureIndex("age", on: [.init("age", .ascending)])
        try done(try measure("get by _id") { number in _ = try collection.get(BSONValue(Self.mix(number) % saved)) })
        try done(
            try measure("query by an index, 10 documents") { number in
                _ = try collection.find(["age": BSONValue(Self.mix(number) % 1000)], hints: ["$max": 10]).all()
            })
        try done(
            try measure("count by an index") { number in
                _ = try collection.count(["age": ["$lt": BSONValue(Self.mix(number) % 1000)]])
            })
        let size = Self.document(0).bytes.count
        var scan = try measure("scan, documents", per: saved) { _ in
            _ = try collection.count(["name": ["$regex": "no such name$"]])
        }
        scan.bytes = size
        scan.floor = Self.memoryName
        try done(scan)
        try done(
            try measure("group by a field, documents", per: saved) { _ in
                _ = try collection.aggregate(
                    Database.Pipeline(documents: [["$group": ["_id": "$city", "n": ["$sum": "$age"]]]])
                ).all()
            })
        try database.close()
    }

    // MARK: The machine

    private func syncs() throws -> Result {
        let path = folder.appendingPathComponent("sync").path
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o600)
        defer {
            close(descriptor)
            unlink(path)
        }
        guard descriptor >= 0 else { throw Self.failure(path) }
        // As in the log, whose space is there before it is used.
        let (block, blocks) = ([UInt8](repeating: 1, count: 4096), 256)
        for number in 0..<blocks where pwrite(descriptor, block, block.count, off_t(number * block.count)) < 0 {
            throw Self.failure(path)
        }
        fsync(descriptor)
        return try measure(Self.syncName) { number in
            let offset = off_t(number % blocks * block.count)
            guard pwrite(descriptor, block, block.count, offset) == block.count else { throw Self.failure(path) }
            #if canImport(Darwin)
            _ = fcntl(descriptor, F_FULLFSYNC)
            #else
            fdatasync(descriptor)
            #endif
        }
    }

    private static func failure(_ path: String) -> CommandError {
        CommandError(
            code: "IO", message: "Cannot write \"\(path)\": \(systemErrorText())", path: path, status: .inputOutput)
    }

    private func memory() throws -> Result {
        let size = 64 << 20
        let bytes = UnsafeMutableRawPointer.allocate(byteCount: size, alignment: 64)
        defer { bytes.deallocate() }
        memset(bytes, 1, size)
        var result = try measure(Self.memoryName) { number in
            // There is no such byte: the system's fastest way through memory.
            if memchr(bytes, 2, size - number % 2) != nil {
                throw CommandError(code: "INTERNAL", message: "")
            }
        }
        result.bytes = size
        return result
    }

    // MARK: Measuring

    /// Repeats an operation until its time is over.
    /// - Parameters:
    ///   - unit: How many an operation counts for.
    ///   - most: How many are enough.
    private func measure(
        _ name: String, per unit: Int = 1, until most: Int = .max, _ body: (Int) throws -> Void
    ) throws -> Result {
        let started = ContinuousClock.now
        var runs = 0
        repeat {
            try Interruption.check()
            try body(runs)
            runs += 1
        } while ContinuousClock.now - started < time && runs * unit < most
        return Result(name: name, count: runs * unit, duration: ContinuousClock.now - started)
    }

    /// A number that looks random.
    private static func mix(_ number: Int) -> Int {
        Int(truncatingIfNeeded: (UInt64(number) &* 0x9E37_79B9_7F4A_7C15) >> 33)
    }

    private static func document(_ number: Int) -> BSONDocument {
        [
            "_id": BSONValue(number), "name": .string("name \(mix(number))"), "age": BSONValue(mix(number) % 1000),
            "city": .string("city \(mix(number) % 50)"), "active": .bool(number % 2 == 0),
            "address": ["street": .string("street \(number % 977)"), "number": BSONValue(number % 300)],
            "tags": ["a", "b", .string("tag \(number % 20)")],
        ]
    }
}
