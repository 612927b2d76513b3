//! A headless Chromium, driven over its debugging pipe: commands go to file
//! descriptor 3 and answers come from 4, JSON texts with a zero byte behind each.
//! No network, no library. A shell gives the descriptors their numbers.

use crate::support::machine::can_run;
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use tempfile::TempDir;

/// What finds faults that keep people out who use a page without eyes or mouse.
const AXE: &str = include_str!("../../../../../tests/axe/axe.min.js");
/// Its serious and critical findings, each with the first element that has it.
const SERIOUS: &str = "axe.run(document, {resultTypes: ['violations']}).then(found => found.violations\
  .filter(one => one.impact === 'serious' || one.impact === 'critical')\
  .map(one => one.id + ' at ' + one.nodes.length + ': ' + one.nodes[0].html.slice(0, 200) + ' ' + one.nodes[0].failureSummary))";

/// Words that stand out too little from what is behind them, by the rule of WCAG 2 (4.5 to
/// 1, large ones 3 to 1): axe leaves that open where there is a picture behind, as of
/// shadows at the edges of tables.
const FAINT: &str = r"(() => {
  const rgb = text => (text.match(/[\d.]+/g) || []).map(Number);
  const light = c => { const [r, g, b] = c.map(v => v / 255).map(v => v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4); return 0.2126 * r + 0.7152 * g + 0.0722 * b; };
  const behind = e => { for (; e; e = e.parentElement) { const c = rgb(getComputedStyle(e).backgroundColor); if (c.length === 3 || c[3] === 1) return c.slice(0, 3); } return [255, 255, 255]; };
  const faults = new Set();
  for (const e of document.querySelectorAll('body *')) {
    if (!(e instanceof HTMLElement) || e.closest(':disabled') || !e.offsetHeight) continue;
    if (![...e.childNodes].some(node => node.nodeType === 3 && node.textContent.trim())) continue;
    const style = getComputedStyle(e), a = light(rgb(style.color).slice(0, 3)), b = light(behind(e));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), size = parseFloat(style.fontSize);
    if (ratio < (size >= 24 || (size >= 18.66 && style.fontWeight >= 700) ? 3 : 4.5)) faults.add(e.tagName + '.' + e.className + ' ' + ratio.toFixed(2));
  }
  return [...faults].map(one => 'faint: ' + one);
})()";

/// A browser with one page. Killed, and its profile removed, at the end.
pub struct Browser {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    last_id: u64,
    session: String,
    /// What the console and the security policy complained about.
    pub complaints: Vec<String>,
    _profile: TempDir,
}

impl Browser {
    /// A new browser; `None`, and said, where there is no Chromium.
    pub fn start(test: &str) -> Option<Browser> {
        if !can_run(test, &["chromium"]) {
            return None;
        }
        let profile = tempfile::tempdir().expect("a directory");
        let line = format!(
            "exec chromium --headless=new --no-sandbox --disable-gpu --disable-dev-shm-usage --no-first-run \
             --disable-extensions --disable-background-networking --hide-scrollbars \
             --user-data-dir='{}' --remote-debugging-pipe about:blank 3<&0 4>&1 >/dev/null 2>&1",
            profile.path().display()
        );
        let mut child = Command::new("sh")
            .args(["-c", &line])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("a shell");
        let to = child.stdin.take().expect("a pipe");
        let from = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut browser = Browser {
            child,
            to,
            from,
            last_id: 0,
            session: String::new(),
            complaints: Vec::new(),
            _profile: profile,
        };
        let target = browser.ask("Target.createTarget", json!({"url": "about:blank"}));
        let attached = browser.ask(
            "Target.attachToTarget",
            json!({"targetId": target["targetId"], "flatten": true}),
        );
        browser.session = attached["sessionId"]
            .as_str()
            .expect("a session")
            .to_owned();
        for domain in ["Page", "Runtime", "Log"] {
            browser.ask(&format!("{domain}.enable"), json!({}));
        }
        Some(browser)
    }

    /// Sends a command and waits for its answer; events on the way are looked at.
    pub fn ask(&mut self, method: &str, parameters: Value) -> Value {
        let answer = self.answer(method, parameters);
        assert!(answer.get("error").is_none(), "{method}: {answer}");
        answer["result"].clone()
    }

    /// The same, with the answer as it came: a result or an error.
    fn answer(&mut self, method: &str, parameters: Value) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        let mut message = json!({"id": id, "method": method, "params": parameters});
        if !self.session.is_empty() {
            message["sessionId"] = json!(self.session);
        }
        let mut bytes = message.to_string().into_bytes();
        bytes.push(0);
        self.to
            .write_all(&bytes)
            .and_then(|()| self.to.flush())
            .expect("the browser listens");
        loop {
            let message = self.read();
            if message["id"] == id {
                return message;
            }
        }
    }

    fn read(&mut self) -> Value {
        let mut bytes = Vec::new();
        let read = self
            .from
            .read_until(0, &mut bytes)
            .expect("the browser speaks");
        assert!(read > 0, "the browser has gone");
        bytes.pop();
        let message: Value = serde_json::from_slice(&bytes).expect("JSON");
        let parameters = &message["params"];
        match message["method"].as_str() {
            Some("Log.entryAdded") => self
                .complaints
                .push(parameters["entry"]["text"].to_string()),
            Some("Runtime.exceptionThrown") => self
                .complaints
                .push(parameters["exceptionDetails"].to_string()),
            Some("Runtime.consoleAPICalled") if parameters["type"] != "log" => {
                self.complaints.push(parameters["args"].to_string());
            }
            Some("Page.javascriptDialogOpening") => {
                self.complaints.push("a dialog opened".to_owned())
            }
            _ => {}
        }
        message
    }

    /// Opens a file in a window of so many pixels, waits until it is loaded, and opens what
    /// is folded.
    pub fn open(&mut self, path: &Path, width: u32, dark: bool) {
        self.open_folded(path, width, dark);
        self.value(
            "new Promise(done => { document.querySelectorAll('details.fold').forEach(one => { one.open = true; }); \
             requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(done, 0))); })",
        );
    }

    /// The same, as it is first seen.
    pub fn open_folded(&mut self, path: &Path, width: u32, dark: bool) {
        let path = path.canonicalize().expect("a file");
        self.open_url(&format!("file://{}", path.display()), width, dark);
    }

    /// The same with an address.
    pub fn open_url(&mut self, url: &str, width: u32, dark: bool) {
        self.ask(
            "Emulation.setDeviceMetricsOverride",
            json!({"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 600}),
        );
        let scheme = if dark { "dark" } else { "light" };
        self.ask(
            "Emulation.setEmulatedMedia",
            json!({"media": "screen", "features": [{"name": "prefers-color-scheme", "value": scheme}]}),
        );
        self.ask("Page.navigate", json!({"url": url}));
        while self.read()["method"] != "Page.loadEventFired" {}
    }

    /// The value of an expression in the page, or of the promise that it is.
    pub fn value(&mut self, expression: &str) -> Value {
        let answer = self.ask("Runtime.evaluate", evaluation(expression));
        assert!(
            answer.get("exceptionDetails").is_none(),
            "{expression}: {answer}"
        );
        answer["result"]["value"].clone()
    }

    /// Whether an expression is true in the page. A page that leaves for the next
    /// one while it is asked has no answer, which is not a fault of it: not yet.
    pub fn is_true(&mut self, expression: &str) -> bool {
        let answer = self.answer("Runtime.evaluate", evaluation(expression));
        if let Some(error) = answer.get("error") {
            let text = error["message"].as_str().unwrap_or_default();
            assert!(
                ["navigated", "context"]
                    .iter()
                    .any(|why| text.contains(why)),
                "{expression}: {error}"
            );
            return false;
        }
        answer["result"]["result"]["value"] == true
    }

    /// What axe-core calls serious or critical on this page, and words that are too faint.
    /// It is put there past the page's policy, as a debugger may.
    pub fn serious_findings(&mut self) -> Value {
        self.ask(
            "Runtime.evaluate",
            json!({"expression": AXE, "returnByValue": false}),
        );
        let mut all = self.value(SERIOUS);
        let faint = self.value(FAINT);
        if let (Some(all), Some(faint)) = (all.as_array_mut(), faint.as_array()) {
            all.extend(faint.iter().cloned());
        }
        all
    }

    /// Moves the mouse to a place of the window.
    pub fn point_at(&mut self, x: f64, y: f64) {
        for (x, y) in [(x - 3.0, y - 2.0), (x, y)] {
            self.ask(
                "Input.dispatchMouseEvent",
                json!({"type": "mouseMoved", "x": x, "y": y}),
            );
        }
    }
}

fn evaluation(expression: &str) -> Value {
    json!({"expression": expression, "returnByValue": true, "awaitPromise": true})
}

impl Drop for Browser {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
