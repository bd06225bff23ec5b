#if TansuSync
import Foundation
import TansuBSON
import TansuTestSupport

/// The recorded answers of CouchDB in the folder `Resources`; its README says where they are from.
enum Vectors {
    /// A recorded file, which is plain JSON: `$…` keys have no meaning.
    static func document(_ name: String) throws -> BSONDocument {
        // Not `resourceURL`, because Foundation takes a folder named Resources as that of an application.
        let folder = Bundle.module.bundleURL.appendingPathComponent("Resources")
        var bytes = try [UInt8](Data(contentsOf: folder.appendingPathComponent(name)))
        if name.hasSuffix(".gz") { bytes = try gunzip(bytes) }
        guard case .document(let document) = try BSONValue(plainJSON: bytes) else {
            throw Problem(text: "\(name): no object")
        }
        return document
    }

    struct Problem: Error {
        var text: String
    }
}

extension BSONValue {
    /// The elements of an array; none of any other value.
    var elements: [BSONValue] { arrayValue.map { Array($0) } ?? [] }
}
#endif
