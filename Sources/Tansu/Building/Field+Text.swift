extension Database.Field where Value: QueryText {
    /// The text begins with another.
    public func hasPrefix(_ prefix: String) -> Database.Condition {
        condition { .test($0, ["$begin": .string(prefix)]) }
    }

    /// The text ends with another.
    public func hasSuffix(_ suffix: String) -> Database.Condition {
        condition { .test($0, ["$endsWith": .string(suffix)]) }
    }

    /// The text has another one in it.
    public func contains(_ part: String) -> Database.Condition {
        condition { .test($0, ["$contains": .string(part)]) }
    }

    /// A regular expression matches, somewhere in the text.
    ///
    /// - Parameters:
    ///   - pattern: In the language of PCRE2, not in that of Swift's `Regex`.
    ///   - options: Letters of `i` (letter case does not matter), `m`, `s` and `x`.
    public func matches(_ pattern: String, options: String = "") -> Database.Condition {
        condition {
            .test(
                $0,
                options.isEmpty
                    ? ["$regex": .string(pattern)] : ["$regex": .string(pattern), "$options": .string(options)])
        }
    }

    /// The text without regard to letter case, folded as Unicode says: `$0.name.ignoringCase == "MIKE"`.
    public var ignoringCase: Database.CaselessText {
        Database.CaselessText(place: place)
    }
}

extension Database {
    /// A text field in a query for which letter case does not matter.
    public struct CaselessText: Sendable {
        let place: Result<FieldPlace, TansuError>

        /// The text equals another; false where there is none.
        public static func == (text: Self, value: String) -> Condition { text.condition(.string(value)) }

        /// The text does not equal another; true where there is none.
        public static func != (text: Self, value: String) -> Condition { !(text == value) }

        /// The text begins with another.
        public func hasPrefix(_ prefix: String) -> Condition { condition(["$begin": .string(prefix)]) }

        /// The text ends with another.
        public func hasSuffix(_ suffix: String) -> Condition { condition(["$endsWith": .string(suffix)]) }

        /// The text has another one in it.
        public func contains(_ part: String) -> Condition { condition(["$contains": .string(part)]) }

        private func condition(_ operand: BSONValue) -> Condition {
            Condition(Clause { .test(try place.get(), ["$icase": operand]) })
        }
    }
}
