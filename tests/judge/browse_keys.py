# SPDX-License-Identifier: BSD-3-Clause
#
# Presses each key that the list of keys of report.html names, for browse_report.py.

from selenium.webdriver.common.action_chains import ActionChains
from selenium.webdriver.common.keys import Keys

TABLE = "const t = app.views[app.current].view.table; "
FLAME = "const v = app.views.flame.view, at = v.boxes.find(b => b.node === v.focus); "
LINES = "const v = app.views.timeline.view; "
STACK = "const s = app.views.timeline.view.stack, at = s.boxes.find(b => s.isFocused(b)); "
MENU = "return !!document.querySelector('.menu')"

# Of each view: what has the focus ("": nothing), then for each key a script whose value it changes.
# Of a list, all keys but the last are held down.
KEYS = [
    ("tables", "#view-tables .table", [
        ("down", Keys.ARROW_DOWN, TABLE + "return t.current"),
        ("up", Keys.ARROW_UP, TABLE + "return t.current"),
        ("M", "m", MENU),
        ("escape of a menu", Keys.ESCAPE, MENU),
        ("enter", Keys.ENTER, "return app.current")]),
    ("tree", "#view-tree .table", [
        ("left", Keys.ARROW_LEFT, TABLE + "return t.flat.length"),
        ("right", Keys.ARROW_RIGHT, TABLE + "return t.flat.length"),
        ("enter", Keys.ENTER, "return app.current")]),
    ("flame", "#view-flame canvas", [
        ("down", Keys.ARROW_DOWN, FLAME + "return at?.depth"),
        ("down again", Keys.ARROW_DOWN, FLAME + "return at?.depth"),
        ("up", Keys.ARROW_UP, FLAME + "return at?.depth"),
        ("C", "c", "return window.copied"),
        ("enter", Keys.ARROW_DOWN * 2 + Keys.ENTER, FLAME + "return v.nameOf(v.zoomed)"),
        ("escape", Keys.ESCAPE, FLAME + "return v.nameOf(v.zoomed)"),
        ("down at last", Keys.ARROW_DOWN + Keys.ARROW_DOWN, FLAME + "return at?.depth"),
        ("M", "m", MENU),
        ("escape of a menu", Keys.ESCAPE, MENU),
        ("B", "b", "return app.state.get('flame.of')")]),
    ("flame", "#view-flame canvas", [
        ("H", Keys.ARROW_DOWN * 3 + "h", "return app.state.get('flame.names')")]),
    ("flame", "#view-flame canvas", [
        ("S", Keys.ARROW_DOWN * 3 + "s",
         "return app.current + (document.querySelector('.toast')?.textContent ?? '')")]),
    ("timeline", "#view-timeline canvas", [
        ("plus", "+", LINES + "return v.to - v.from"),
        ("right", Keys.ARROW_RIGHT, LINES + "return v.from"),
        ("left", Keys.ARROW_LEFT, LINES + "return v.from"),
        ("minus", "-", LINES + "return v.to - v.from"),
        ("plus again", "+", LINES + "return v.to - v.from"),
        ("enter", Keys.ENTER, "return app.state.get('t')"),
        ("escape", Keys.ESCAPE, "return app.state.get('t')"),
        ("zero", "0", LINES + "return v.to - v.from"),
        ("home", Keys.HOME + Keys.HOME, LINES + "return v.chosen.id"),
        ("down", Keys.ARROW_DOWN * 4, LINES + "return v.chosen.id"),
        ("up", Keys.ARROW_UP, LINES + "return v.chosen.id"),
        ("end", Keys.END, LINES + "return v.chosen.id"),
        ("space", " ", "return app.state.get('p')"),
        ("shift and space", [Keys.SHIFT, Keys.ARROW_UP + Keys.ARROW_UP + " "],
         "return app.state.get('p')"),
        ("full stop", Keys.HOME + Keys.ARROW_DOWN * 5 + "..",
         "return app.state.get('timeline.at')"),
        ("comma", ",", "return app.state.get('timeline.at')"),
        ("M", "m", MENU),
        ("escape of a menu", Keys.ESCAPE, MENU),
        ("P", Keys.END + "p", "return app.state.get('timeline.pinned')")]),
    ("timeline", "#view-timeline .stack canvas", [
        ("call stack: down", Keys.ARROW_DOWN, STACK + "return at?.d"),
        ("call stack: down again", Keys.ARROW_DOWN, STACK + "return at?.d"),
        ("call stack: up", Keys.ARROW_UP, STACK + "return at?.d"),
        ("call stack: M", "m", MENU),
        ("escape of a menu", Keys.ESCAPE, MENU)]),
    ("overview", "", [
        ("question mark", "?", "return !!document.querySelector('dialog.help')"),
        ("escape of the list", Keys.ESCAPE, "return !!document.querySelector('dialog.help')"),
        ("slash", "/", "return document.activeElement.id"),
        ("text", "a", "return app.state.get('q')"),
        ("enter in the search", Keys.ENTER,
         "return document.getElementById('matches').textContent"),
        ("shift and enter", [Keys.SHIFT, Keys.ENTER],
         "return document.getElementById('matches').textContent"),
        ("escape of the search", Keys.ESCAPE, "return app.state.get('q')"),
        ("a number", "2", "return app.current"),
        ("control and Z", [Keys.CONTROL, "z"], "return app.current"),
        ("control, shift and Z", [Keys.CONTROL, Keys.SHIFT, "z"], "return app.current")]),
]


def press(page, keys):
    actions = ActionChains(page.browser)
    if isinstance(keys, str):
        actions.send_keys(keys)
    else:
        for key in keys[:-1]:
            actions.key_down(key)
        actions.send_keys(keys[-1])
        for key in keys[:-1]:
            actions.key_up(key)
    actions.pause(0.06).perform()


def use_keys(page, checks):
    page.js("copyText = text => { window.copied = text; }")
    for view, focus, keys in KEYS:
        page.js("app.state.reset(); app.go(arguments[0])", view)
        page.js("document.activeElement.blur();"
                "if (arguments[0]) document.querySelector(arguments[0]).focus()", focus)
        for name, pressed, script in keys:
            before = page.js(script)
            press(page, pressed)
            after = page.js(script)
            checks.check(f"keys: {view}: {name}", before != after, f"{before} {after}")
    page.js("app.state.reset()")
    errors = page.errors()
    checks.check("keys: the console stays empty", not errors, str(errors)[:300])
