import Foundation

/// The bundled data set of `tansu demo`.
enum DemoData {
    static let count = 34_006
    static let attribution =
        "34,006 cities from GeoNames (geonames.org), CC BY 4.0"

    /// The path of the file.
    ///
    /// `Bundle.module` terminates the process when the resource folder is missing, for example after the program was
    /// copied elsewhere. This function throws an error instead.
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
        throw CommandError(
            code: "NO_INPUT", message: "The data of the demo is missing",
            path: "tansu_TansuCommand.resources/cities.ndjson.gz",
            remedy: "copy that folder from the build folder to the folder of the program", status: .noInput)
    }
}
