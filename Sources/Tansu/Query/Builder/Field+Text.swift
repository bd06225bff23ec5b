extension Database.Field where Value: QueryText {
    /// The text begins with another.
    public func hasPrefix(_ prefix: String) -> Database.Condition {
        condition { .test($0, ["$begin": .string(prefix)]) }
    }

    /// The text ends with another.
    public func hasSuffix(_ suffix: String) -> Database.Condition {
        condition { .test($0, ["$endsWith": .string(suffix)]) }
    }

    /// The text contains another.
    public func contains(_ part: String) -> Database.Condition {
        condition { .test($0, ["$contains": .string(part)]) }
    }

    /// The text is there and has no characters.
    public var isEmpty: Database.Condition {
        condition { .compare($0, .equal, "") }
    }

    /// A regular expression matches a part of the text.
    ///
    /// - Parameters:
    ///   - pattern: A pattern in the syntax of PCRE2, not of Swift's `Regex`.
    ///   - options: Any of the letters `i` (ignore case), `m`, `s` and `x`.
    public func matches(_ pattern: String, options: String = "") -> Database.Condition {
        condition {
            .test(
                $0,
                options.isEmpty
                    ? ["$regex": .string(pattern)] : ["$regex": .string(pattern), "$options": .string(options)])
        }
    }

    /// The text for comparisons that ignore case, by Unicode case folding: `$0.name.ignoringCase == "MIKE"`.
    public var ignoringCase: Database.CaselessText {
        Database.CaselessText(text: field { $0 })
    }
}

extension Database {
    /// A text field in a query that is compared case-insensitively.
    public struct CaselessText: Sendable {
        let text: Field<Never>

        /// The text equals another; false where there is none.
        public static func == (text: Self, value: String) -> Condition { text.condition(.string(value)) }

        /// The text does not equal another; true where there is none.
        public static func != (text: Self, value: String) -> Condition { !(text == value) }

        /// The text begins with another.
        public func hasPrefix(_ prefix: String) -> Condition { condition(["$begin": .string(prefix)]) }

        /// The text ends with another.
        public func hasSuffix(_ suffix: String) -> Condition { condition(["$endsWith": .string(suffix)]) }

        /// The text contains another.
        public func contains(_ part: String) -> Condition { condition(["$contains": .string(part)]) }

        private func condition(_ operand: BSONValue) -> Condition {
            text.condition { .test($0, ["$icase": operand]) }
        }
    }
}
