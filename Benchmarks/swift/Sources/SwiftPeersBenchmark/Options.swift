/// The options of the command line.
struct Options {
    var documents = 100_000
    var repetitions = 3
    var rows: [Row] = swiftPeersRows
    var only: String?
    var folder = "/tmp"
    var json = false

    static let help =
        """
        usage: run-swift [options]
        Compares Tansu with GRDB on the same generated records, in Swift.

          --docs N      records (default 100000; rounded up to \(People.step)s)
          --reps N      repetitions of each row, A B A B (default 3)
          --rows a,b,c  only these rows
          --only NAME   only tansu or only grdb: for profiling
          --dir FOLDER  where the databases go (default TMPDIR or /tmp)
          --json        JSON instead of a table
          --help        this text

        rows:

        """
        + swiftPeersRows.map { "  \($0.key.padded(to: 18))  \($0.title)" }.joined(separator: "\n")

    init(_ arguments: some Sequence<String>, temporary: String?) throws {
        if let temporary { folder = temporary }
        var rest = Array(arguments)[...]
        while let option = rest.popFirst() {
            switch option {
            case "--json": json = true
            case "--docs": documents = try Self.number(option, &rest)
            case "--reps": repetitions = try Self.number(option, &rest)
            case "--dir": folder = try Self.text(option, &rest)
            case "--rows": rows = try Self.rows(Self.text(option, &rest))
            case "--only":
                let name = try Self.text(option, &rest)
                try require(name == "tansu" || name == "grdb", "no library is called \"\(name)\"")
                only = name
            default: throw BenchmarkError(description: "unknown option \"\(option)\"; see --help")
            }
        }
        documents = (documents + People.step - 1) / People.step * People.step
    }

    private static func text(_ option: String, _ rest: inout ArraySlice<String>) throws -> String {
        guard let text = rest.popFirst() else { throw BenchmarkError(description: "\"\(option)\" needs a value") }
        return text
    }

    private static func number(_ option: String, _ rest: inout ArraySlice<String>) throws -> Int {
        guard let number = Int(try text(option, &rest)), (1...100_000_000).contains(number) else {
            throw BenchmarkError(description: "\"\(option)\" needs a positive number")
        }
        return number
    }

    private static func rows(_ list: String) throws -> [Row] {
        let keys = list.split(separator: ",").map(String.init)
        for key in keys where !swiftPeersRows.contains(where: { $0.key == key }) {
            throw BenchmarkError(description: "no row is called \"\(key)\"")
        }
        return swiftPeersRows.filter { keys.contains($0.key) }
    }
}

extension String {
    func padded(to width: Int) -> String { self + String(repeating: " ", count: max(0, width - count)) }
    func aligned(to width: Int) -> String { String(repeating: " ", count: max(0, width - count)) + self }
}
