#if TansuServer
extension InspectorFile {
    /// How the page looks, in light and dark.
    static let styleSheet = InspectorFile(
        "style.css", .style,
        #"""
        :root {
          color-scheme: light dark;
          --back: #f7f6f4; --front: #fff; --text: #1d1b19; --dim: #635d57; --line: #dcd7d1;
          --accent: #8a3f17; --on-accent: #fff; --hover: #f0ece7;
          --warn-back: #fff3d6; --warn-line: #d9a520; --bad: #b3261e; --bad-back: #fdeceb; --good: #1f6b37;
          --mono: ui-monospace, "SF Mono", "Cascadia Mono", "DejaVu Sans Mono", Menlo, Consolas, monospace;
        }
        @media (prefers-color-scheme: dark) {
          :root {
            --back: #191715; --front: #221f1d; --text: #ece7e1; --dim: #a89f96; --line: #3d3834;
            --accent: #e8a06f; --on-accent: #23150c; --hover: #2d2926;
            --warn-back: #3a2f14; --warn-line: #b98a1c; --bad: #ff8a80; --bad-back: #3b1f1d; --good: #7cc792;
          }
        }
        * { box-sizing: border-box; }
        body { margin: 0; background: var(--back); color: var(--text); font: 15px/1.5 system-ui, sans-serif; }
        a { color: var(--accent); text-underline-offset: 2px; }
        :focus-visible { outline: 2px solid var(--accent); outline-offset: 2px; }
        main:focus, h1:focus { outline: none; }
        .skip { position: absolute; left: -100vw; }
        .skip:focus { left: 1rem; top: 1rem; background: var(--front); padding: .5rem; z-index: 2; }
        body > header {
          display: flex; flex-wrap: wrap; align-items: center; gap: .25rem 1.5rem; padding: .6rem 1.25rem;
          background: var(--front); border-bottom: 1px solid var(--line);
        }
        .brand { display: flex; align-items: center; gap: .5rem; font-weight: 650; color: inherit; text-decoration: none; }
        nav { display: flex; flex-wrap: wrap; gap: .25rem 1rem; }
        nav a { color: var(--dim); text-decoration: none; padding: .3rem 0; border-bottom: 2px solid transparent; }
        nav a:hover { color: var(--text); }
        nav a[aria-current] { color: var(--text); border-color: var(--accent); }
        #session { margin-left: auto; display: flex; align-items: center; gap: .75rem; color: var(--dim); }
        main { max-width: 76rem; margin: 0 auto; padding: 1.25rem; }
        main[aria-busy="true"] { opacity: .6; }
        h1 { font-size: 1.45rem; line-height: 1.3; margin: 0 0 .75rem; overflow-wrap: anywhere; }
        h2 { font-size: 1.05rem; margin: 1.75rem 0 .5rem; }
        p { margin: .5rem 0; }
        .crumbs { color: var(--dim); margin: 0 0 .25rem; overflow-wrap: anywhere; }
        .tabs { border-bottom: 1px solid var(--line); margin-bottom: 1rem; }
        .tabs a { margin-bottom: -1px; }
        .dim { color: var(--dim); }
        .mono, pre, textarea, code { font-family: var(--mono); font-size: .86rem; }
        .escape { color: var(--bad); font-family: var(--mono); font-size: .8em; }
        .row { display: flex; flex-wrap: wrap; gap: .5rem .75rem; align-items: end; margin: .6rem 0; }
        .row.middle { align-items: center; }
        .grow { flex: 1 1 14rem; }
        label { display: block; font-size: .86rem; color: var(--dim); }
        label.check { display: flex; gap: .4rem; align-items: center; color: inherit; font-size: inherit; }
        input, select, textarea, button { font: inherit; color: inherit; }
        input:not([type="checkbox"]), select, textarea {
          min-height: 2.4rem;
          width: 100%; background: var(--front); border: 1px solid var(--line); border-radius: 6px; padding: .4rem .6rem;
        }
        input[type="checkbox"] { width: 1.05rem; height: 1.05rem; margin: 0; accent-color: var(--accent); }
        textarea { font-family: var(--mono); font-size: .86rem; line-height: 1.45; tab-size: 2; resize: vertical; }
        button, .button {
          display: inline-block; border: 1px solid var(--line); background: var(--front); border-radius: 6px; padding: .4rem .85rem;
          cursor: pointer; color: inherit; text-decoration: none; white-space: nowrap;
        }
        button:hover, .button:hover { background: var(--hover); }
        button:disabled { opacity: .5; cursor: default; }
        .primary { background: var(--accent); border-color: var(--accent); color: var(--on-accent); }
        .primary:hover { background: var(--accent); filter: brightness(1.1); }
        .danger { color: var(--bad); }
        .table { overflow-x: auto; background: var(--front); border: 1px solid var(--line); border-radius: 8px; }
        table { border-collapse: collapse; width: 100%; }
        caption { text-align: left; padding: .5rem .75rem; color: var(--dim); font-size: .86rem; }
        th, td { text-align: left; vertical-align: top; padding: .45rem .75rem; border-top: 1px solid var(--line); }
        thead th { border-top: 0; font-size: .82rem; font-weight: 600; color: var(--dim); white-space: nowrap; }
        caption + thead th { border-top: 1px solid var(--line); }
        tbody tr:hover { background: var(--hover); }
        tbody th { font-weight: 500; }
        td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
        td.actions { text-align: right; white-space: nowrap; }
        td.actions button { padding: .15rem .6rem; }
        td.id, th.id { overflow-wrap: anywhere; min-width: 9rem; max-width: 24rem; }
        td.text { overflow-wrap: anywhere; min-width: 14rem; color: var(--dim); }
        td.nowrap { white-space: nowrap; }
        pre {
          margin: .5rem 0; padding: .75rem; background: var(--front); border: 1px solid var(--line); border-radius: 8px;
          overflow: auto; max-height: 70vh; white-space: pre-wrap; overflow-wrap: anywhere;
        }
        .mark {
          display: inline-block; border: 1px solid var(--line); border-radius: 1rem; padding: 0 .55rem; font-size: .8rem; color: var(--dim);
          white-space: nowrap; margin-left: .35rem;
        }
        .mark.conflict { border-color: var(--warn-line); background: var(--warn-back); color: inherit; }
        .error, .warning, .done { border-radius: 8px; padding: .6rem .85rem; margin: .75rem 0; overflow-wrap: anywhere; }
        .error { background: var(--bad-back); border: 1px solid var(--bad); }
        .warning { background: var(--warn-back); border: 1px solid var(--warn-line); }
        .done { border: 1px solid var(--good); }
        .error p, .warning p { margin: 0 0 .5rem; }
        .error > :last-child, .warning > :last-child { margin-bottom: 0; }
        .facts { display: flex; flex-wrap: wrap; gap: .25rem 1.5rem; margin: .5rem 0; }
        .facts div { display: flex; gap: .4rem; }
        .facts dt { color: var(--dim); }
        .facts dd { margin: 0; font-variant-numeric: tabular-nums; overflow-wrap: anywhere; }
        details { margin: 1rem 0; }
        summary { cursor: pointer; padding: .25rem 0; }
        .warning ul { list-style: none; padding: 0; margin: 0; }
        ul.revisions { list-style: none; padding: 0; margin: .5rem 0; max-height: 16rem; overflow: auto; }
        .columns { display: grid; gap: 1rem; grid-template-columns: repeat(auto-fit, minmax(min(100%, 22rem), 1fr)); }
        dialog {
          border: 1px solid var(--line); border-radius: 10px; background: var(--front); color: inherit; padding: 1.25rem;
          width: min(30rem, calc(100vw - 2rem));
        }
        dialog::backdrop { background: #0008; }
        dialog h2 { margin-top: 0; overflow-wrap: anywhere; }
        .narrow { max-width: 24rem; }
        .narrow > div + div { margin-top: .6rem; }
        #notice:not(:empty) {
          position: fixed; bottom: 1rem; left: 1rem; right: 1rem; width: fit-content; margin: 0 auto; background: var(--text); color: var(--back); padding: .5rem 1rem; border-radius: 8px; overflow-wrap: anywhere;
        }
        @media (max-width: 40rem) {
          body > header { padding: .6rem .9rem; }
          main { padding: .9rem; }
          .wide { display: none; }
          th, td { padding: .4rem .5rem; }
          td.id, th.id { min-width: 6rem; }
          td.text { min-width: 8rem; }
          td.actions button { padding: .1rem .4rem; }
        }
        """#)
}
#endif
