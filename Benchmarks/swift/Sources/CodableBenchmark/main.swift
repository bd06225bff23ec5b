import Foundation
import TansuBSON

/// An error of the benchmark: a wrong result of a variant or an invalid option.
struct BenchmarkError: Error, CustomStringConvertible {
    var description: String
}

func check(_ condition: Bool, _ what: String) throws {
    if !condition { throw BenchmarkError(description: "Wrong result of \(what)") }
}

// The coders are created once, as in an application.
let encoder = BSONEncoder()
let decoder = BSONDecoder()
let jsonEncoder = JSONEncoder()
let jsonDecoder = JSONDecoder()
let noEncoder: any Encoder & Sendable = NoOpEncoder()
let noDecoder: any Decoder & Sendable = NoOpDecoder()

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
            variants: [
                Variant("by hand") { value.plainlyWritten().count },
                Variant("with pointers") { try value.handWritten().count },
                Variant("BSONWritable") { try encoder.encode(direct).bytes.count },
                Variant("BSONEncoder") { try encoder.encode(value).bytes.count },
                Variant("JSONEncoder") { try jsonEncoder.encode(value).count },
                Variant("no encoder") {
                    try value.encode(to: noEncoder)
                    return 1
                },
            ]),
        Row(
            name: "decode flat", goal: 2.5,
            variants: [
                Variant("by hand") { use(try Person(plainlyRead: document.bytes)) },
                Variant("with pointers") { use(try document.withUnsafeBytes { try Person(handRead: $0) }) },
                Variant("BSONReadable") {
                    let person = try decoder.decode(DirectPerson.self, from: document)
                    return person.id &+ person.email.utf8.count &+ person.age
                },
                Variant("BSONDecoder") { use(try decoder.decode(Person.self, from: document)) },
                Variant("JSONDecoder") { use(try jsonDecoder.decode(Person.self, from: json)) },
                Variant("no decoder") { use(try Person(from: noDecoder)) },
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
            variants: [
                Variant("BSONEncoder") { try encoder.encode(value).bytes.count },
                Variant("JSONEncoder") { try jsonEncoder.encode(value).count },
            ]),
        Row(
            name: "decode \(name)",
            variants: [
                Variant("BSONDecoder") { withExtendedLifetime(try decoder.decode(T.self, from: document)) { 1 } },
                Variant("JSONDecoder") { withExtendedLifetime(try jsonDecoder.decode(T.self, from: json)) { 1 } },
            ]),
    ]
}

let help = """
    Compares Tansu's Codable coders with hand-written code and Foundation's coders.

      --reps N        repetitions of each row (default: 9)
      --ms N          minimum duration of a repetition in milliseconds (default: 60)
      --rows A,B      only rows whose name contains one of these: flat, event, order, series, encode, decode
      --only VARIANT  only one variant, for a profiler
    """

/// The options by name, such as `--reps 5`.
func options(_ arguments: [String]) throws -> [String: String] {
    var options: [String: String] = [:]
    var rest = arguments[...]
    while let name = rest.popFirst() {
        guard ["--reps", "--ms", "--rows", "--only"].contains(name), let value = rest.popFirst() else {
            throw BenchmarkError(description: "\"\(name)\" is not an option or has no value; see --help")
        }
        options[name] = value
    }
    return options
}

func number(_ text: String?, or standard: Int) throws -> Int {
    guard let text else { return standard }
    guard let number = Int(text), number > 0 else {
        throw BenchmarkError(description: "\"\(text)\" is not a positive number")
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
    print("row              variant             median   allocs   ratio    most   goal")
    let only = options["--only"]
    for var row in rows where wanted.map({ $0.contains { row.name.contains($0) } }) ?? true {
        if let only { row.variants.removeAll { $0.name != only } }
        try row.measure(repetitions: repetitions, nanoseconds: nanoseconds)
        row.printTable()
    }
} catch {
    FileHandle.standardError.write(Data("codable benchmark: \(error)\n".utf8))
    exit(1)
}
