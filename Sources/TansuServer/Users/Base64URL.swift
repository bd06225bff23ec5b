#if TansuServer
    import Foundation

    /// Base64 for URLs and cookies: `-` and `_`, without padding.
    enum Base64URL {
        static func encode(_ bytes: some Sequence<UInt8>) -> String {
            Data(bytes).base64EncodedString().replacing("+", with: "-").replacing("/", with: "_").replacing(
                "=", with: "")
        }

        /// Nil when the text is not base64.
        static func decode(_ text: some StringProtocol) -> [UInt8]? {
            var text = String(text).replacing("-", with: "+").replacing("_", with: "/")
            while !text.utf8.count.isMultiple(of: 4) { text += "=" }
            return Data(base64Encoded: text).map { Array($0) }
        }
    }
#endif
