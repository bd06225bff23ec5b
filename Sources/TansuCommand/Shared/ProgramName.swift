import Foundation

/// How the user calls this program, so that commands that it prints work as printed.
enum ProgramName {
    /// "tansu" when the shell finds this very program under that name, otherwise the shortest path
    /// that leads to it from the folder the user is in.
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
                // The shell takes the first one that it finds.
                if resolved(candidate) == real { return "tansu" }
                break
            }
        }
        // `swift run` starts .build/<machine>/release/tansu, to which .build/release leads.
        for configuration in ["release", "debug"] {
            let short = ".build/\(configuration)/tansu"
            if resolved("\(folder)/\(short)") == real { return short }
        }
        let prefix = folder.hasSuffix("/") ? folder : folder + "/"
        let isBelow = executable.hasPrefix(prefix)
        return FileNames.shellQuoted(
            isBelow ? "./" + executable.dropFirst(prefix.count) : executable)
    }

    private static func resolved(_ path: String) -> String {
        URL(fileURLWithPath: path).resolvingSymlinksInPath().path
    }
}
