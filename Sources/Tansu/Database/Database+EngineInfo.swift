extension Database {
    /// The version of the engine that is linked, such as "0.1.0".
    public static var engineVersion: String { EngineDatabase.version }

    /// The format of the database files that the engine reads and writes, such as 2. Files of another one are refused with
    /// the code `VERSION`.
    public static var fileFormat: Int { EngineDatabase.fileFormat }

    /// The optional libraries that the engine was built with, by their names for pkg-config and in alphabetical order, such as
    /// `["libdeflate", "liblz4"]`.
    public static var engineLibraries: [String] { EngineDatabase.libraries }

    /// Whether the engine was compiled with the package (the trait `EngineFromSource`, and systems where no library can be
    /// installed). Otherwise it is the installed library.
    public static var isEngineFromSource: Bool { EngineDatabase.isFromSource }

    /// The version of the package, which is that of the engine it was compiled with. ``engineVersion`` is that of the library
    /// which the program has found.
    package static var packageVersion: String { EngineDatabase.headerVersion }
}
