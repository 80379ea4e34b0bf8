"""Colours and fonts of a report, in light and dark."""

STYLE = """
.aoe { --ink: #1f2933; --soft: #616e7c; --line: #d5dbe1; --paper: #ffffff; --panel: #f5f7fa;
  --before: #7b8794; --after: #2563eb; --rival: #7b93b8; --noise: #d97706; --failed: #c0392b; --known: #0f9d76;
  color: var(--ink); background: var(--paper); font: 15px/1.5 system-ui, "Segoe UI", "DejaVu Sans", sans-serif; }
@media (prefers-color-scheme: dark) { .aoe { --ink: #e4e7eb; --soft: #9aa5b1; --line: #3e4c59; --paper: #17202a;
  --panel: #1f2a36; --before: #7b8794; --after: #60a5fa; --rival: #5d7599; --noise: #f59e0b; --failed: #ef7b6c; --known: #34d399; } }
.aoe h1 { font-size: 26px; margin: 0 0 4px; overflow-wrap: anywhere; } .aoe h2 { font-size: 20px; margin: 44px 0 8px; border-bottom: 1px solid var(--line); }
.aoe h3 { font-size: 16px; margin: 28px 0 6px; } .aoe h4 { font-size: 14px; margin: 0 0 2px; }
.aoe small, .aoe .note { color: var(--soft); font-size: 13px; font-weight: normal; }
.aoe .note { margin: 4px 0 0; max-width: 860px; overflow-wrap: anywhere; } .aoe .verdict { font-size: 20px; margin: 8px 0; }
.aoe dl { display: grid; grid-template-columns: max-content 1fr; gap: 2px 18px; margin: 10px 0; max-width: 860px; }
.aoe dt { color: var(--soft); } .aoe dd { margin: 0; overflow-wrap: anywhere; }
.aoe table { border-collapse: collapse; font-size: 13px; margin: 12px 0; max-width: 860px; }
.aoe th, .aoe td { text-align: left; padding: 2px 14px 2px 0; border-bottom: 1px solid var(--line); overflow-wrap: anywhere; }
.aoe th { overflow-wrap: normal; }
.aoe .figure { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap; }
.aoe svg { display: block; max-width: 100%; height: auto; margin: 6px 0; overflow: visible; }
.aoe .wide { overflow: auto hidden; } .aoe .wide svg { min-width: 640px; overflow: hidden; }
.aoe .wide td:not(.figure) { min-width: 12ch; }
.aoe svg text { fill: var(--ink); font-size: 13px; } .aoe svg text.note { fill: var(--soft); font-size: 12px; }
.aoe svg text.label { font-size: 12px; }
.aoe svg text.figure { fill: var(--soft); font-size: 12px; }
.aoe .bar { fill: var(--before); } .aoe .bar.after, .aoe .bar.won { fill: var(--after); } .aoe .bar.rival { fill: var(--rival); }
.aoe .bar.known { fill: var(--known); } .aoe .bar.noise { fill: var(--noise); } .aoe .bar.failed { fill: var(--failed); }
.aoe .bar.open { fill: var(--line); }
.aoe .interval line { stroke-width: 2; } .aoe .interval.before { stroke: var(--before); fill: var(--before); }
.aoe .interval.after { stroke: var(--after); fill: var(--after); }
.aoe .reference { stroke: var(--soft); stroke-dasharray: 4 4; } .aoe line.grid { stroke: var(--line); }
.aoe .line { fill: none; stroke: var(--after); stroke-width: 2; } .aoe .end { fill: var(--after); }
.aoe .roof { fill: none; stroke: var(--noise); stroke-width: 2; }
.aoe .point { fill: var(--after); fill-opacity: .45; stroke: var(--after); }
.aoe div.grid { display: grid; grid-template-columns: repeat(auto-fill, minmax(270px, 1fr)); gap: 12px; max-width: 860px; }
.aoe figure { margin: 0; background: var(--panel); border-radius: 6px; padding: 6px; } .aoe figcaption { font-size: 12px; color: var(--soft); }
.aoe section.task { margin: 18px 0; padding: 12px 14px; background: var(--panel); border-radius: 6px; max-width: 860px; }
.aoe section.task p { margin: 2px 0; }
"""
