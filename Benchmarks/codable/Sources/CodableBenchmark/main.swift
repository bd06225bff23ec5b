import Foundation
import TansuBSON

/// Why the benchmark ends: what a way of working gave is wrong, or how the benchmark was called.
struct Mistake: Error, CustomStringConvertible {
    var description: String
}

func check(_ condition: Bool, _ what: String) throws {
    if !condition { throw Mistake(description: "wrong answer: \(what)") }
}

// The coders are made once, as an application does.
let encoder = BSONEncoder()
let decoder = BSONDecoder()
let jsonEncoder = JSONEncoder()
let jsonDecoder = JSONDecoder()
let noEncoder: any Encoder & Sendable = NoEncoder()
let noDecoder: any Decoder & Sendable = NoDecoder()

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
                Way("no encoder") {
                    try value.encode(to: noEncoder)
                    return 1
                },
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
                Way("no decoder") { use(try Person(from: noDecoder)) },
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

let help = """
    Times Codable coders beside hand-written code and Foundation's.

      --reps N      repetitions of each row, 9 unless told
      --ms N        how long each repetition takes at least, 60 unless told
      --rows A,B    only rows whose name contains one of these: flat, event, order, series, encode, decode
      --only WAY    one way alone, for a profiler
    """

/// The options by name, such as `--reps 5`.
func options(_ arguments: [String]) throws -> [String: String] {
    var options: [String: String] = [:]
    var rest = arguments[...]
    while let name = rest.popFirst() {
        guard ["--reps", "--ms", "--rows", "--only"].contains(name), let value = rest.popFirst() else {
            throw Mistake(description: "\(name) is not an option, or lacks its value; see --help")
        }
        options[name] = value
    }
    return options
}

func number(_ text: String?, or standard: Int) throws -> Int {
    guard let text else { return standard }
    guard let number = Int(text), number > 0 else {
        throw Mistake(description: "\"\(text)\" is not a number over 0")
    }
    return number
}

do {
    let arguments = Array(CommandLine.arguments.dropFirst())
    if arguments.contains("--help") {
        print(help)
        exit(0)
    }
    let options = try options(arguments)
    let repetitions = try number(options["--reps"], or: 9)
    let nanoseconds = 1e6 * Double(try number(options["--ms"], or: 60))
    let wanted = options["--rows"]?.split(separator: ",").map(String.init)
    let rows = try person() + pair("event", Event.sample) + pair("order", Order.sample) + pair("series", Series.sample)
    print("row              way                 median   allocs   ratio    most   goal")
    let only = options["--only"]
    for var row in rows where wanted.map({ $0.contains { row.name.contains($0) } }) ?? true {
        if let only { row.ways.removeAll { $0.name != only } }
        try row.measure(repetitions: repetitions, nanoseconds: nanoseconds)
        row.printTable()
    }
} catch {
    FileHandle.standardError.write(Data("codable benchmark: \(error)\n".utf8))
    exit(1)
}
