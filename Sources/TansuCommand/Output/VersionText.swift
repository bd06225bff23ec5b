import Tansu

/// What `tansu --version` prints: the name and the version, then lines of a name, a colon and words.
enum VersionText {
    static var text: String {
        """
        tansu \(Database.packageVersion)
        engine: \(Database.engineVersion), \(Database.isEngineFromSource ? "from source" : "installed")
        file format: \(Database.fileFormat)
        libraries: \(list(Database.engineLibraries))
        traits: \(list(traits))
        """
    }

    private static var traits: [String] {
        var names: [String] = []
        #if TansuServer
        names.append("TansuServer")
        #endif
        #if TansuSync
        names.append("TansuSync")
        #endif
        return names
    }

    private static func list(_ names: [String]) -> String {
        names.isEmpty ? "none" : names.joined(separator: " ")
    }
}
