import Foundation

/// The name by which the user runs this program, so that printed commands can be copied.
enum ProgramName {
    /// "tansu" when the shell finds this program by that name, otherwise the shortest path from the current folder.
    static func current() -> String {
        let environment = ProcessInfo.processInfo.environment
        let executable = Bundle.main.executablePath ?? CommandLine.arguments[0]
        return name(
            executable: executable, searchPath: environment["PATH"] ?? "",
            folder: FileManager.default.currentDirectoryPath)
    }

    static func name(executable: String, searchPath: String, folder: String) -> String {
        let real = resolved(executable)
        for entry in searchPath.split(separator: ":") {
            let candidate = "\(entry)/tansu"
            if FileManager.default.isExecutableFile(atPath: candidate) {
                // The shell runs the first match.
                if resolved(candidate) == real { return "tansu" }
                break
            }
        }
        // `swift run` starts .build/<machine>/release/tansu, and .build/release is a link to that folder.
        for configuration in ["release", "debug"] {
            let short = ".build/\(configuration)/tansu"
            if resolved("\(folder)/\(short)") == real { return short }
        }
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        let isBelow = executable.hasPrefix(prefix)
        return shellQuoted(
            isBelow ? "./" + executable.dropFirst(prefix.count) : executable)
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
}
