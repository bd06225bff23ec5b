import Tansu

/// Runs an operation that creates a new file or folder, and converts the error that the path exists already.
func creatingDestination<Result>(_ path: String, _ body: () throws -> Result) throws -> Result {
    do {
        return try body()
    } catch let error as TansuError where error.code == .exists {
        throw CommandError(
            code: error.code.description, message: "\"\(path)\" exists already", path: path,
            remedy: "choose another name, nothing was changed", status: .cannotCreate)
    } catch var error as CommandError where error.status == .interrupted {
        error.path = path
        error.remedy = "\"\(path)\" was not created"
        throw error
    }
}
