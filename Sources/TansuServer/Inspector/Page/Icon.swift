#if TansuServer
extension InspectorFile {
    /// The icon of the page: a chest of drawers.
    static let icon = InspectorFile(
        "icon.svg", .image,
        #"""
        <svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 24 24">
        <rect x="2" y="2" width="20" height="20" rx="2.5" fill="#7a3b1d"/>
        <g fill="#e9b872">
        <rect x="4" y="4" width="16" height="4.4" rx="0.8"/>
        <rect x="4" y="9.8" width="7.3" height="4.4" rx="0.8"/>
        <rect x="12.7" y="9.8" width="7.3" height="4.4" rx="0.8"/>
        <rect x="4" y="15.6" width="16" height="4.4" rx="0.8"/>
        </g>
        <g fill="#3b1a0a">
        <rect x="10" y="5.6" width="4" height="1.2" rx="0.6"/>
        <rect x="6.4" y="11.4" width="2.5" height="1.2" rx="0.6"/>
        <rect x="15.1" y="11.4" width="2.5" height="1.2" rx="0.6"/>
        <rect x="10" y="17.2" width="4" height="1.2" rx="0.6"/>
        </g>
        </svg>
        """#)
}
#endif
