import ArgumentParser

/// What to do about a subcommand that does not exist. The argument parser has its own for options.
struct Suggestion {
    let message: String
    let remedy: String

    /// Names that other databases and shells have for the subcommands.
    private static let synonyms = [
        "add": "save", "create": "save", "delete": "remove", "drop": "collections drop", "export": "dump",
        "insert": "save", "list": "collections", "ls": "collections", "optimize": "compact", "put": "save",
        "query": "find", "rename": "collections rename", "rm": "remove", "salvage": "repair", "select": "find",
        "set": "save", "show": "collections", "status": "stats", "upsert": "update --upsert", "vacuum": "compact",
        "check": "verify", "indexes": "index", "group": "aggregate",
    ]

    /// Makes a suggestion for the first word that should be a subcommand and is none. Nil when there is no such word.
    init?(for words: [String], in root: any ParsableCommand.Type) {
        var command = root
        var path: [String] = []
        for word in words.prefix(while: { !$0.hasPrefix("-") }) {
            let subcommands = command.configuration.subcommands
            if subcommands.isEmpty { return nil }
            if let next = subcommands.first(where: { Suggestion.names(of: $0).contains(word) }) {
                command = next
                path.append(next._commandName)
                continue
            }
            let synonym = path.isEmpty ? Suggestion.synonyms[word] : nil
            let candidates = subcommands.map { $0._commandName }
            let nearest = synonym ?? Suggestion.nearest(to: word, of: candidates)
            // Otherwise it is an argument of the default subcommand, or of the built-in one.
            if nearest == nil, command.configuration.defaultSubcommand != nil || word == "help" { return nil }
            let words = ["tansu"] + path
            message = "Unknown subcommand \"\(word)\""
            remedy =
                nearest.map { "did you mean \"\((words + [$0]).joined(separator: " "))\"?" }
                ?? "\"\((words + ["--help"]).joined(separator: " "))\" lists them"
            return
        }
        return nil
    }

    /// How a word is given that begins with a minus and was taken for an option, or nil when there is none: a number, or
    /// one of several letters, since there are options of one letter.
    /// - Parameter isValue: Whether it may be the value of an option, which has none by the error.
    static func minus(in words: [String], isValue: Bool) -> String? {
        let words = ["tansu"] + words.prefix { $0 != "--" }
        let found = words.indices.dropFirst().first { index in
            let rest = Array(words[index].utf8.dropFirst())
            guard words[index].hasPrefix("-"), let first = rest.first else { return false }
            return first != UInt8(ascii: "-") && (rest.count > 1 || (0x30...0x39).contains(first))
                && words[index - 1].hasPrefix("--") == isValue
        }
        return found.map { index in
            let word = shown(words[index])
            let written = isValue ? "\(shown(words[index - 1]))=\(word)" : "-- \(word)"
            return "\"\(word)\" was taken for an option; write \"\(written)\""
        }
    }

    private static func names(of command: any ParsableCommand.Type) -> [String] {
        [command._commandName] + command.configuration.aliases
    }

    /// The most bytes of a word that is compared or shown: a longer one is no mistyped name.
    private static let longest = 80

    /// A word in a message, of which a long one is the beginning.
    static func shown(_ word: String) -> String {
        word.utf8.count <= longest ? word : String(decoding: word.utf8.prefix(longest), as: UTF8.self) + "…"
    }

    /// The name with the fewest differences, or nil when none is similar.
    static func nearest(to word: String, of names: [String]) -> String? {
        guard word.utf8.count <= longest else { return nil }
        let word = word.lowercased()
        if word.count > 1, let longer = names.first(where: { $0.hasPrefix(word) }) { return longer }
        let best = names.map { (name: $0, distance: distance(word, $0)) }.min { $0.distance < $1.distance }
        guard let best, best.distance <= max(1, best.name.count / 3) else { return nil }
        return best.name
    }

    /// The number of characters that are to be inserted, removed or replaced, or exchanged with the next one.
    static func distance(_ left: String, _ right: String) -> Int {
        let (left, right) = (Array(left), Array(right))
        var rows = [[Int](repeating: 0, count: right.count + 1), Array(0...right.count)]
        for i in left.indices {
            var row = [i + 1]
            for j in right.indices {
                let last = rows[rows.count - 1]
                var cost = min(last[j + 1] + 1, row[j] + 1, last[j] + (left[i] == right[j] ? 0 : 1))
                if i > 0, j > 0, left[i] == right[j - 1], left[i - 1] == right[j] {
                    cost = min(cost, rows[rows.count - 2][j - 1] + 1)
                }
                row.append(cost)
            }
            rows.append(row)
        }
        return rows[rows.count - 1][right.count]
    }
}
