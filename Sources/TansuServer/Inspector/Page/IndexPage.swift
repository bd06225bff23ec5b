#if TansuServer
extension InspectorFile {
    /// The page, which loads all the others.
    static let indexPage = InspectorFile(
        "index.html", .page,
        #"""
        <!doctype html>
        <html lang="en">
        <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>Tansu inspector</title>
        <link rel="icon" href="icon.svg" type="image/svg+xml">
        <link rel="stylesheet" href="style.css">
        <script type="module" src="app.js"></script>
        </head>
        <body>
        <a class="skip" href="#main">Skip to the content</a>
        <header>
        <a class="brand" href="#/"><img src="icon.svg" alt="" width="24" height="24">Tansu inspector</a>
        <nav aria-label="Server">
        <a href="#/">Databases</a>
        <a href="#/replication">Replication</a>
        </nav>
        <div id="session" role="status"></div>
        </header>
        <main id="main" tabindex="-1"></main>
        <div id="notice" role="status"></div>
        <noscript><p class="error">The inspector is a program in JavaScript, which this browser does not run.</p></noscript>
        </body>
        </html>
        """#)
}
#endif
