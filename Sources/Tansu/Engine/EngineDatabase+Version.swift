#if canImport(CTansuSource)
import CTansuSource
#else
import CTansu
#endif
import TansuBSON

// What the engine is that this module calls.
extension EngineDatabase {
    static var version: String { String(cString: tansu_version()) }

    static var headerVersion: String { "\(TANSU_VERSION_MAJOR).\(TANSU_VERSION_MINOR).\(TANSU_VERSION_PATCH)" }

    static var fileFormat: Int { Int(tansu_file_format()) }

    static var libraries: [String] {
        String(cString: tansu_optional_libraries()).parts(separatedBy: " ", omittingEmpty: true)
    }

    #if canImport(CTansuSource)
    static let isFromSource = true
    #else
    static let isFromSource = false
    #endif
}
