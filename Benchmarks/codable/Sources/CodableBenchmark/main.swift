import Foundation
import TansuBSON

struct WrongAnswer: Error, CustomStringConvertible {
    var description: String
}

func check(_ condition: Bool, _ what: String) throws {
    if !condition { throw WrongAnswer(description: "wrong answer: \(what)") }
}

// The coders are made once, as an application does.
let encoder = BSONEncoder()
let decoder = BSONDecoder()
let jsonEncoder = JSONEncoder()
let jsonDecoder = JSONDecoder()

func person() throws -> [Row] {
    let value = Person.sample
    let document = try encoder.encode(value)
    let json = try jsonEncoder.encode(value)
    try check(value.handWritten() == document.bytes, "the hand-written bytes")
    try check(document.withUnsafeBytes { try Person(handRead: $0) } == value, "the hand-written reader")
    try check(decoder.decode(Person.self, from: document) == value, "the decoder")
    try check(value.plainlyWritten() == document.bytes, "the plainly written bytes")
    try check(Person(plainlyRead: document.bytes) == value, "the plain reader")
    let direct = DirectPerson.sample
    try check(encoder.encode(direct) == document, "the direct writer")
    try check(decoder.decode(DirectPerson.self, from: document) == direct, "the direct reader")
    func use(_ person: Person) -> Int { person.id &+ person.email.utf8.count &+ person.age }
    return [
        Row(
            name: "encode flat", goal: 2.5,
            ways: [
                Way("by hand") { value.plainlyWritten().count },
                Way("with pointers") { try value.handWritten().count },
                Way("BSONWritable") { try encoder.encode(direct).bytes.count },
                Way("BSONEncoder") { try encoder.encode(value).bytes.count },
                Way("JSONEncoder") { try jsonEncoder.encode(value).count },
            ]),
        Row(
            name: "decode flat", goal: 2.5,
            ways: [
                Way("by hand") { use(try Person(plainlyRead: document.bytes)) },
                Way("with pointers") { use(try document.withUnsafeBytes { try Person(handRead: $0) }) },
                Way("BSONReadable") {
                    let person = try decoder.decode(DirectPerson.self, from: document)
                    return person.id &+ person.email.utf8.count &+ person.age
                },
                Way("BSONDecoder") { use(try decoder.decode(Person.self, from: document)) },
                Way("JSONDecoder") { use(try jsonDecoder.decode(Person.self, from: json)) },
            ]),
    ]
}

func pair<T: Codable & Equatable>(_ name: String, _ value: T) throws -> [Row] {
    let document = try encoder.encode(value)
    let json = try jsonEncoder.encode(value)
    try check(decoder.decode(T.self, from: document) == value, name)
    return [
        Row(
            name: "encode \(name)",
            ways: [
                Way("BSONEncoder") { try encoder.encode(value).bytes.count },
                Way("JSONEncoder") { try jsonEncoder.encode(value).count },
            ]),
        Row(
            name: "decode \(name)",
            ways: [
                Way("BSONDecoder") { withExtendedLifetime(try decoder.decode(T.self, from: document)) { 1 } },
                Way("JSONDecoder") { withExtendedLifetime(try jsonDecoder.decode(T.self, from: json)) { 1 } },
            ]),
    ]
}

/// The value of an option such as `--reps 5`.
func option(_ name: String) -> String? {
    let arguments = CommandLine.arguments
    return arguments.firstIndex(of: "--\(name)").flatMap { $0 + 1 < arguments.count ? arguments[$0 + 1] : nil }
}

do {
    let repetitions = max(1, option("reps").flatMap { Int($0) } ?? 9)
    let nanoseconds = 1e6 * Double(max(1, option("ms").flatMap { Int($0) } ?? 60))
    let wanted = option("rows")?.split(separator: ",").map(String.init)
    let rows = try person() + pair("event", Event.sample) + pair("order", Order.sample) + pair("series", Series.sample)
    print("row              way                 median   allocs   ratio    most   goal")
    let only = option("only")
    for var row in rows where wanted.map({ $0.contains { row.name.contains($0) } }) ?? true {
        if let only { row.ways.removeAll { $0.name != only } }
        try row.measure(repetitions: repetitions, nanoseconds: nanoseconds)
        row.printTable()
    }
} catch {
    FileHandle.standardError.write(Data("codable benchmark: \(error)\n".utf8))
    exit(1)
}
