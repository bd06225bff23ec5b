#if TansuSync
    /// ICU cannot be used: its data are missing, or it has no memory.
    package struct CollationError: Error, Sendable, Hashable, CustomStringConvertible {
        /// ICU's name of the error, such as `U_FILE_ACCESS_ERROR`.
        package let name: String

        package var description: String {
            "ICU fails with \(name); install ICU with its data (libicu-dev, or icu4c)"
        }
    }
#endif
