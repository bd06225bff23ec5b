import Foundation

/// The cities that come with the program, for `tansu demo`.
enum BundledCities {
    static let count = 34_006
    static let attribution =
        "34,006 cities from GeoNames (geonames.org), CC BY 4.0"

    /// Where the file is.
    ///
    /// The package manager's own look-up ends the process when the folder is not beside the program;
    /// a program that was copied elsewhere should say so instead.
    static func path(executable: String? = Bundle.main.executablePath) throws -> String {
        let executable = URL(fileURLWithPath: executable ?? CommandLine.arguments[0])
        let folders = [
            executable.deletingLastPathComponent(),
            executable.resolvingSymlinksInPath().deletingLastPathComponent(),
        ]
        for folder in folders {
            for suffix in ["resources", "bundle", "bundle/Contents/Resources"] {
                let file = folder.appendingPathComponent("tansu_TansuCommand.\(suffix)")
                    .appendingPathComponent("cities.ndjson.gz")
                if FileManager.default.isReadableFile(atPath: file.path) { return file.path }
            }
        }
        throw CommandFailure(
            code: "NO_INPUT", message: "The cities are not beside the program.",
            path: "tansu_TansuCommand.resources/cities.ndjson.gz",
            remedy: "Copy that folder from the build folder to where the program is.", status: .noInput)
    }
}
