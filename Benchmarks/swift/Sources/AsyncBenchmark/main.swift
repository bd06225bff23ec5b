import Foundation
import Tansu

struct Person: Codable, Sendable, Identifiable {
    var id: Int
    var name: String
    var age: Int
}

/// An error of the benchmark: a wrong result or an invalid option.
struct BenchmarkError: Error, CustomStringConvertible {
    var description: String
}

/// The same read without and with `await`.
struct Row: Sendable {
    let name: String
    let synchronous: @Sendable () throws -> Int
    let asynchronous: @Sendable () async throws -> Int
}

/// An actor that reads.
actor Reader {
    let people: Database.Collection<Person>

    init(_ people: Database.Collection<Person>) {
        self.people = people
    }

    func get(times: Int) async throws -> Int {
        var sum = 0
        for i in 0..<times { sum &+= try await people.get(i % count)?.age ?? 0 }
        return sum
    }
}

let count = 10_000

func rows(_ people: Database.Collection<Person>) -> [Row] {
    let ids = Array(0..<10)
    return [
        Row(
            name: "get", synchronous: { try people.get(17)?.age ?? 0 },
            asynchronous: { try await people.get(17)?.age ?? 0 }),
        Row(
            name: "get of 10 ids", synchronous: { try people.get(ids: ids).count },
            asynchronous: { try await people.get(ids: ids).count }),
        Row(
            name: "first, indexed", synchronous: { try people.find(["name": "p17"]).first()?.age ?? 0 },
            asynchronous: { try await people.find(["name": "p17"]).first()?.age ?? 0 }),
        Row(
            name: "all, 10 indexed", synchronous: { try people.find(["age": 17]).all().count },
            asynchronous: { try await people.find(["age": 17]).all().count }),
        Row(
            name: "count, indexed", synchronous: { try people.count(["age": 17]) },
            asynchronous: { try await people.count(["age": 17]) }),
        Row(
            name: "count, scan", synchronous: { try people.count(["name": ["$regex": "7.*7"]]) },
            asynchronous: { try await people.count(["name": ["$regex": "7.*7"]]) }),
    ]
}

/// Nanoseconds of one repetition.
func nanoseconds(_ start: ContinuousClock.Instant, _ times: Int) -> Double {
    let (seconds, attoseconds) = (ContinuousClock.now - start).components
    return (Double(seconds) * 1e9 + Double(attoseconds) / 1e9) / Double(times)
}

func median(_ numbers: [Double]) -> Double { numbers.sorted()[numbers.count / 2] }

/// One line of the result: a variant of a call.
struct Line {
    let name: String
    let variant: String
    let samples: [Double]
    /// The median divided by that of the synchronous call.
    let ratio: Double

    init(_ name: String, _ variant: String, _ samples: [Double], comparedTo first: [Double]) {
        self.name = name
        self.variant = variant
        self.samples = samples
        ratio = median(samples) / median(first)
    }

    /// As an object of the JSON, in microseconds.
    var json: String {
        let numbers = samples.map { String(format: "%.6g", $0 / 1000) }.joined(separator: ", ")
        return "{\"key\": \"\(name)\", \"variant\": \"\(variant)\", \"unit\": \"us\", "
            + "\"samples\": [\(numbers)], \"ratio\": \(String(format: "%.6g", ratio))}"
    }
}

func text(_ line: Line) -> String {
    func column(_ text: String, _ width: Int) -> String {
        String(repeating: " ", count: max(0, width - text.count)) + text
    }
    return line.name.padding(toLength: 18, withPad: " ", startingAt: 0)
        + line.variant.padding(toLength: 12, withPad: " ", startingAt: 0)
        + column(String(format: "%.1f us", median(line.samples) / 1000), 12)
        + column(String(format: "%.2f", line.ratio), 8)
}

func measure(_ row: Row, repetitions: Int, wanted: Double) async throws -> [Line] {
    guard try row.synchronous() == (try await row.asynchronous()) else {
        throw BenchmarkError(description: "Wrong result of \(row.name)")
    }
    var sums = (0, 0)
    var (synchronous, asynchronous): ([Double], [Double]) = ([], [])
    var start = ContinuousClock.now
    for _ in 0..<16 { sums.0 &+= try row.synchronous() }
    let times = max(4, Int(wanted / nanoseconds(start, 16)))
    // The runs are interleaved, so that a slower phase of the machine affects both.
    for _ in 0..<repetitions {
        start = ContinuousClock.now
        for _ in 0..<times { sums.0 &+= try row.synchronous() }
        synchronous.append(nanoseconds(start, times))
        start = ContinuousClock.now
        for _ in 0..<times { sums.1 &+= try await row.asynchronous() }
        asynchronous.append(nanoseconds(start, times))
    }
    return [
        Line(row.name, "synchronous", synchronous, comparedTo: synchronous),
        Line(row.name, "await", asynchronous, comparedTo: synchronous),
    ]
}

/// Reads on an actor of its own, and on the main actor, in whose isolation this runs.
@MainActor
func measureOnActors(
    _ people: Database.Collection<Person>, repetitions: Int, wanted: Double
) async throws -> [Line] {
    let reader = Reader(people)
    let times = max(4, Int(wanted / 5000))
    var (direct, onActor, onMain): ([Double], [Double], [Double]) = ([], [], [])
    var sum = 0
    for _ in 0..<repetitions {
        // A closure that is not async: `get` without await.
        let start = ContinuousClock.now
        sum &+= try { try (0..<times).reduce(0) { try $0 &+ (people.get($1 % count)?.age ?? 0) } }()
        direct.append(nanoseconds(start, times))
        let actorStart = ContinuousClock.now
        sum &+= try await reader.get(times: times)
        onActor.append(nanoseconds(actorStart, times))
        let mainStart = ContinuousClock.now
        for i in 0..<times { sum &+= try await people.get(i % count)?.age ?? 0 }
        onMain.append(nanoseconds(mainStart, times))
    }
    return [
        Line("get, any id", "synchronous", direct, comparedTo: direct),
        Line("get, any id", "on an actor", onActor, comparedTo: direct),
        Line("get, any id", "main actor", onMain, comparedTo: direct),
    ]
}

func number(after name: String, or standard: Int) throws -> Int {
    let arguments = CommandLine.arguments
    guard let index = arguments.firstIndex(of: name) else { return standard }
    guard index + 1 < arguments.count, let number = Int(arguments[index + 1]), number > 0 else {
        throw BenchmarkError(description: "\"\(name)\" needs a positive number")
    }
    return number
}

let help = """
    Compares reads with and without await.

      --reps N        repetitions of each row (default: 9)
      --ms N          duration of a repetition in milliseconds (default: 60)
      --json          JSON instead of a table
    """

func run() async throws {
    let repetitions = try number(after: "--reps", or: 9)
    let wanted = 1e6 * Double(try number(after: "--ms", or: 60))
    let db = try await Database.open(.memory)
    let people = try db.collection("people", of: Person.self)
    try await people.save((0..<count).map { Person(id: $0, name: "p\($0)", age: $0 % 1000) })
    try await people.ensureIndex("by_name", on: ["name": .ascending])
    try await people.ensureIndex("by_age", on: ["age": .ascending])
    let json = CommandLine.arguments.contains("--json")
    var lines: [Line] = []
    func add(_ more: [Line]) {
        lines += more
        if !json { for line in more { print(text(line)) } }
    }
    if !json { print("call              variant           median   ratio") }
    for row in rows(people) { add(try await measure(row, repetitions: repetitions, wanted: wanted)) }
    add(try await measureOnActors(people, repetitions: repetitions, wanted: wanted))
    if json {
        let rows = lines.map { "\n  " + $0.json }.joined(separator: ",")
        print("{\"documents\": \(count), \"tansuVersion\": \"\(Database.engineVersion)\", \"rows\": [\(rows)\n]}")
    }
}

if CommandLine.arguments.contains("--help") {
    print(help)
    exit(0)
}
do {
    try await run()
} catch {
    FileHandle.standardError.write(Data("async benchmark: \(error)\n".utf8))
    exit(1)
}
