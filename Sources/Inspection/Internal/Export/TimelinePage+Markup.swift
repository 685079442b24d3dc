// The parts of the page that are the same for every recording.

extension TimelinePage {
    static let body = """
        <header>
        <h1 id="title"></h1>
        <p id="summary"></p>
        </header>
        <nav aria-label="Timeline">
        <button id="fit" title="0">All</button>
        <button id="closer" title="+">Closer</button>
        <button id="farther" title="-">Farther</button>
        <button id="previous" title="p">Previous slow handler</button>
        <button id="next" title="n">Next slow handler</button>
        <label>Slow from <input id="threshold" type="number" min="0" step="any" value="5"> ms</label>
        </nav>
        <div id="frame"><canvas id="timeline" tabindex="0" role="img"></canvas></div>
        <p id="chosen" aria-live="polite">Click a slice, or press n for the next slow handler.</p>
        <h2>Handlers by place</h2>
        <div class="scroll"><table>
        <thead><tr><th>Kind</th><th>Place</th><th>Calls</th><th>Together</th><th>Longest</th><th>Longest wait</th></tr></thead>
        <tbody id="places"></tbody>
        </table></div>
        <footer><p>Wheel or +/- to zoom, drag or arrow keys to pan, 0 for all, n and p for slow handlers. \
        Grey is sleep, red is a slow handler, arrows lead from the sending of a message to its handler.</p></footer>
        """

    static let style = """
        :root { color-scheme: light dark;
          --back: #ffffff; --text: #1d2329; --quiet: #5b6670; --line: #d9dee3; --run: #dce8f5; --handler: #3f7fbf;
          --slow: #c8362c; --sleep: #e9ecef; --wait: #d69a1f; --other: #58957a; --mark: #7a4fb5; --arrow: #7d8891; }
        @media (prefers-color-scheme: dark) { :root {
          --back: #14181c; --text: #e4e8ec; --quiet: #9aa6b1; --line: #333c45; --run: #223347; --handler: #5b9bd8;
          --slow: #ef6a5f; --sleep: #242a30; --wait: #dcae4a; --other: #6cae90; --mark: #b190e6; --arrow: #94a1ad; } }
        * { box-sizing: border-box; }
        body { margin: 0 auto; padding: 16px; max-width: 1600px; background: var(--back); color: var(--text);
          font: 15px/1.45 system-ui, sans-serif; }
        h1 { font-size: 20px; margin: 0; } h2 { font-size: 16px; margin: 20px 0 8px; }
        p { margin: 4px 0; } header p, footer p { color: var(--quiet); }
        nav { display: flex; flex-wrap: wrap; gap: 8px; align-items: center; margin: 12px 0; }
        button, input { font: inherit; color: inherit; background: var(--back); border: 1px solid var(--line);
          border-radius: 6px; padding: 3px 10px; } input { width: 5em; }
        button:hover { border-color: var(--handler); } :focus-visible { outline: 2px solid var(--handler); }
        #frame { border: 1px solid var(--line); border-radius: 6px; overflow: hidden; }
        canvas { display: block; width: 100%; cursor: crosshair; touch-action: none; }
        #chosen { min-height: 3em; overflow-wrap: anywhere; }
        .scroll { overflow-x: auto; }
        table { border-collapse: collapse; width: 100%; font-variant-numeric: tabular-nums; }
        th, td { text-align: right; padding: 4px 8px; border-bottom: 1px solid var(--line); white-space: nowrap; }
        th:nth-child(-n+2), td:nth-child(-n+2) { text-align: left; }
        td:nth-child(2) { white-space: normal; overflow-wrap: anywhere; min-width: 12em; }
        tbody tr { cursor: pointer; } tbody tr:hover { background: var(--run); } td.slow { color: var(--slow); font-weight: 600; }
        """
}
