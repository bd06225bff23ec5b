/// The preparation of the words of a command line for the argument parser.
enum ArgumentWords {
    /// The commands whose last argument may begin with a minus: a negative _id, a descending path.
    private static let commandsWithMinus: [(words: [String], isArgument: @Sendable (String) -> Bool)] = [
        (["get"], { $0.dropFirst().first.map { $0.isNumber || $0 == "." } ?? false }),
        (["index", "create"], { !$0.hasPrefix("--") && $0 != "-h" }),
    ]
    private static let optionsWithValue: Set<String> = ["--name", "--partial-filter", "--wait"]

    /// Moves a last argument that begins with a minus to the end, after "--". The parser takes it as an option
    /// otherwise.
    static func prepared(_ words: [String]) -> [String] {
        guard !words.contains("--") else { return words }
        for (command, isArgument) in commandsWithMinus where words.starts(with: command) {
            let found = words.indices.dropFirst(command.count).first { index in
                words[index].count > 1 && words[index].first == "-" && isArgument(words[index])
                    && !optionsWithValue.contains(words[index - 1])
            }
            guard let found else { continue }
            var result = words
            let word = result.remove(at: found)
            // The words before it that are no options must precede it.
            return result + ["--", word]
        }
        return words
    }
}
