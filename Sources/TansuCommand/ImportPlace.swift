import ArgumentParser

/// The place of a document in a file, behind which an import goes on.
struct ImportPlace: Equatable, CustomStringConvertible {
    /// The line on which the document begins.
    var line: Int
    /// Its number among the documents that begin on that line, or nil for the last one of them.
    var number: Int?

    var description: String { number.map { "\(line):\($0)" } ?? "\(line)" }

    /// The line of each document that is read, and its number among those that begin on that line.
    struct Counter {
        private(set) var line = 0
        private(set) var number = 0

        mutating func count(_ next: Int) { (line, number) = (next, next == line ? number + 1 : 1) }
    }

    /// Whether a document is this one or before it.
    func covers(_ place: Counter) -> Bool {
        place.line < line || place.line == line && place.number <= number ?? place.number
    }
}

extension ImportPlace: ExpressibleByArgument {
    init?(argument: String) {
        let parts = argument.parts(separatedBy: ":")
        let numbers = parts.compactMap { Int($0) }
        guard (1...2).contains(parts.count), numbers.count == parts.count, numbers.allSatisfy({ $0 > 0 }) else {
            return nil
        }
        self.init(line: numbers[0], number: numbers.count == 2 ? numbers[1] : nil)
    }
}
