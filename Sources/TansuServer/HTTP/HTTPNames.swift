// Names are optional because they may be no tokens; these are.
// swift-format-ignore-file: NeverForceUnwrap
#if TansuServer
import HTTPTypes

extension HTTPRequest.Method {
    /// CouchDB's method that copies a document.
    static let copy = HTTPRequest.Method("COPY")!
}

extension HTTPField.Name {
    /// The digest of a body.
    static let contentMD5 = HTTPField.Name("Content-MD5")!
    /// Where a COPY goes.
    static let destination = HTTPField.Name("Destination")!
    /// The last event that an event source has read.
    static let lastEventID = HTTPField.Name("Last-Event-ID")!
    /// The method that a POST stands for.
    static let methodOverride = HTTPField.Name("X-HTTP-Method-Override")!
    /// What HTTP/1.0 caches look at.
    static let pragma = HTTPField.Name("Pragma")!
    /// Who may show a page as a part of theirs.
    static let frameOptions = HTTPField.Name("X-Frame-Options")!
    /// What a browser says about a page to the ones that it leads to.
    static let referrerPolicy = HTTPField.Name("Referrer-Policy")!
    /// Which pages share a group of windows with a page.
    static let crossOriginOpenerPolicy = HTTPField.Name("Cross-Origin-Opener-Policy")!
}
#endif
