"""Style sheet and script of the exported page; they fetch nothing, and the page reads well without the script."""

from __future__ import annotations

STYLE = """
:root { color-scheme: light dark; --fg: #25282c; --bg: #f7f5f0; --soft: #eceae4; --line: #d3d0c8; --quiet: #5d6065;
  --brand: #376f20; --path: #2f5d8a; --warm: #8f5400; --bad: #b3261e; --add: #e3f5e7; --del: #fbe6e4; }
@media (prefers-color-scheme: dark) { :root { --fg: #d8d8d2; --bg: #14161a; --soft: #1d2026; --line: #343a42;
  --quiet: #92969c; --brand: #7fb069; --path: #8da9c4; --warm: #e5aa68; --bad: #df6c75;
  --add: #22331f; --del: #3a2225; } }
* { box-sizing: border-box; }
body { margin: 0; background: var(--bg); color: var(--fg); font: 15px/1.55 system-ui, sans-serif; }
a { color: var(--path); }
nav { position: fixed; inset: 0 auto 0 0; width: 21rem; overflow: auto; padding: 1rem .6rem; background: var(--soft);
  border-right: 1px solid var(--line); font-size: 13px; }
nav a { display: block; padding: .1rem .4rem; color: var(--fg); text-decoration: none; white-space: nowrap;
  overflow: hidden; text-overflow: ellipsis; border-left: 2px solid transparent; }
nav a:hover { background: var(--bg); }
nav a.u { color: var(--path); } nav a.s, nav .fork { color: var(--quiet); }
nav a.here { border-left-color: var(--brand); }
nav .fork { padding: .5rem .4rem 0; overflow: hidden; text-overflow: ellipsis; white-space: nowrap; }
nav button { font: inherit; margin: 0 .3rem .6rem 0; color: inherit; background: var(--bg);
  border: 1px solid var(--line); border-radius: 4px; cursor: pointer; }
.d1 { margin-left: .8rem; } .d2 { margin-left: 1.6rem; } .d3 { margin-left: 2.4rem; } .d4 { margin-left: 3.2rem; }
.d5 { margin-left: 4rem; } .d6 { margin-left: 4.8rem; }
main { margin-left: 21rem; padding: 1.5rem 2rem 6rem; max-width: 68rem; }
header h1 { font-size: 1.3rem; margin: 0 0 .2rem; } header p { margin: 0 0 1.5rem; color: var(--quiet); }
article { margin: 0 0 1rem; overflow-wrap: anywhere; }
article > .who { color: var(--quiet); font-size: 12px; }
.user { background: var(--soft); border-left: 3px solid var(--brand); padding: .5rem .9rem; }
.label { color: var(--warm); margin-left: .5rem; }
.error { color: var(--bad); }
details > summary { cursor: pointer; }
details.tool, details.think { border: 1px solid var(--line); border-radius: 4px;
  padding: .2rem .6rem; margin: .4rem 0; }
details.tool > summary { font: 13px/1.5 ui-monospace, monospace; overflow: hidden; text-overflow: ellipsis; }
details.tool.ok > summary b { color: var(--brand); } details.tool.bad > summary b { color: var(--bad); }
details.think { color: var(--quiet); }
section.branch { border-top: 1px dashed var(--line); padding-top: .6rem; margin-top: 1rem; }
section.branch > details > summary { color: var(--path); margin-bottom: .6rem; }
pre { background: var(--soft); padding: .5rem .7rem; overflow: auto; font: 13px/1.45 ui-monospace, monospace;
  white-space: pre-wrap; border-radius: 4px; }
code { font-family: ui-monospace, monospace; font-size: .93em; }
ins, del { display: block; text-decoration: none; } ins { background: var(--add); } del { background: var(--del); }
table { border-collapse: collapse; } td, th { border: 1px solid var(--line); padding: .2rem .5rem; }
blockquote { margin-left: 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--quiet); }
img { max-width: 100%; }
.off { display: none !important; }
@media (max-width: 60rem) { nav { position: static; width: auto; max-height: 40vh; }
  main { margin: 0; padding: 1rem; } }
@media print { nav { display: none; } main { margin: 0; } }
"""

SCRIPT = """
(function () {
  var entries = document.querySelectorAll('[data-p]'), sections = document.querySelectorAll('section');
  function each(list, work) { Array.prototype.forEach.call(list, work); }
  function all() { each(entries, function (e) { e.classList.remove('off'); });
    each(sections, function (s) { s.classList.remove('off'); }); }
  function show(id) {
    var target = document.getElementById(id), on = {}, after = false;
    if (!target || !target.hasAttribute('data-p')) { return; }
    each(target.closest('section').querySelectorAll('[data-p]'), function (e) {
      after = after || e === target;
      if (after) { on[e.id] = true; }
    });
    for (var e = target; e; e = document.getElementById(e.getAttribute('data-p'))) { on[e.id] = true; }
    each(entries, function (e) { e.classList.toggle('off', !on[e.id]); });
    each(sections, function (s) {
      var has = !!s.querySelector('[data-p]:not(.off)'), fold = s.querySelector('details.way');
      s.classList.toggle('off', !has);
      if (has && fold) { fold.open = true; }
    });
    each(document.querySelectorAll('nav a'), function (a) {
      a.classList.toggle('here', a.getAttribute('href') === '#' + id);
    });
    target.scrollIntoView();
  }
  function button(text, work) {
    var b = document.createElement('button');
    b.textContent = text; b.onclick = work;
    document.getElementById('buttons').appendChild(b);
  }
  function fold(kind) {
    return function () {
      var list = document.querySelectorAll('details.' + kind), open = list.length && !list[0].open;
      each(list, function (d) { d.open = open; });
    };
  }
  button('all branches', all); button('tools', fold('tool')); button('thinking', fold('think'));
  each(document.querySelectorAll('nav a, a.jump'), function (a) {
    a.addEventListener('click', function () { show(a.getAttribute('href').slice(1)); });
  });
  if (location.hash) { show(location.hash.slice(1)); }
})();
"""
