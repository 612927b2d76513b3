//! `book`: the documentation as one folder of HTML, without network access. docs/SUMMARY.md is the
//! table of contents, as in mdBook; the page of all switches is generated from the program's
//! `--help`. Dead links to pages or headings are errors.

use anyhow::{Context, Result, bail};
use pulldown_cmark::{CowStr, Event, HeadingLevel, Options, Parser, Tag, TagEnd, html};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use suite::arguments::Arguments;
use suite::root;
use suite::shell::{self, cargo};

/// The generated page.
const REFERENCE: &str = "reference.md";

const STYLE: &str = "\
:root{color-scheme:light dark}
body{margin:0;font:16px/1.55 system-ui,sans-serif;display:flex;flex-wrap:wrap}
nav{flex:0 0 16rem;padding:1.5rem;font-size:.92rem}
nav b{display:block;margin-top:1rem}
nav a{display:block;padding:.1rem 0}
nav a[aria-current]{font-weight:600}
main{flex:1 1 34rem;min-width:0;max-width:60rem;padding:1.5rem}
pre{overflow-x:auto;padding:.8rem;background:#8882;line-height:1.35;font-size:.82rem}
code{font-family:ui-monospace,monospace}
table{border-collapse:collapse;display:block;overflow-x:auto}
th,td{border:1px solid #8886;padding:.25rem .6rem;text-align:left;vertical-align:top}
a{color:#2563eb}
@media(prefers-color-scheme:dark){body{background:#16181c;color:#dde}a{color:#7ab0ff}}
footer{display:flex;justify-content:space-between;margin-top:3rem}
";

/// A page of the book.
struct Page {
    title: String,
    /// Relative to docs: `book/change.md`.
    path: String,
    /// The part of the book that starts with this page.
    part: Option<String>,
    text: String,
}

/// Writes the book.
pub fn run(mut arguments: Arguments) -> Result<()> {
    let root = root::path();
    let out: Option<PathBuf> = arguments.value("--out")?;
    let out = out.unwrap_or_else(|| root::target_directory().join("book"));
    let binary: Option<PathBuf> = arguments.value("--binary")?;
    arguments.finish()?;
    let pages = write(&root, &out, binary)?;
    println!("{pages} pages in {}", out.display());
    Ok(())
}

/// The continuous integration step: the book must have no dead links.
pub fn check(root: &Path) -> Result<()> {
    let pages = write(root, &root::target_directory().join("book"), None)?;
    println!("{pages} pages");
    Ok(())
}

fn write(root: &Path, out: &Path, binary: Option<PathBuf>) -> Result<usize> {
    // The tests' binary, if they ran before.
    let built = root::target_directory().join("debug/stripewise");
    let binary = match binary {
        Some(binary) => binary,
        None if built.exists() => built,
        None => {
            shell::run(&mut cargo(root, &["build", "-q", "-p", "stripewise-app"]))?;
            built
        }
    };
    let docs = root.join("docs");
    let summary = std::fs::read_to_string(docs.join("SUMMARY.md")).context("docs/SUMMARY.md")?;
    let mut pages = contents(&summary)?;
    for page in &mut pages {
        page.text = match page.path.as_str() {
            REFERENCE => reference(&binary)?,
            path => std::fs::read_to_string(docs.join(path)).with_context(|| path.to_owned())?,
        };
    }
    let book = Book::of(&pages);
    let mut files = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        let body = book.body(root, page)?;
        files.push((html_name(&page.path), book.page(index, &body)));
    }
    if out.exists() {
        std::fs::remove_dir_all(out)?;
    }
    for (name, text) in &files {
        let path = out.join(name);
        std::fs::create_dir_all(path.parent().unwrap_or(out))?;
        std::fs::write(path, text)?;
    }
    let images = out.join("images");
    std::fs::create_dir_all(&images)?;
    for image in std::fs::read_dir(docs.join("images"))? {
        let image = image?;
        std::fs::copy(image.path(), images.join(image.file_name()))?;
    }
    // Readers start at the first page.
    let first = html_name(&pages[0].path);
    let index = format!("<!doctype html><meta http-equiv=\"refresh\" content=\"0;url={first}\">\n");
    std::fs::write(out.join("index.html"), index)?;
    Ok(files.len())
}

/// `book/change.md` is `book/change.html`.
fn html_name(path: &str) -> String {
    format!("{}.html", path.strip_suffix(".md").unwrap_or(path))
}

/// The pages of a table of contents, in order.
fn contents(summary: &str) -> Result<Vec<Page>> {
    let mut pages = Vec::new();
    let mut part = None;
    for line in summary.lines().skip(1) {
        if let Some(title) = line.strip_prefix("# ") {
            part = Some(title.to_owned());
        }
        let Some(entry) = line.strip_prefix("- [") else {
            continue;
        };
        let (title, rest) = entry.split_once("](").context("`- [title](page)`")?;
        let path = rest.strip_suffix(')').context("`- [title](page)`")?;
        pages.push(Page {
            title: title.to_owned(),
            path: path.to_owned(),
            part: part.take(),
            text: String::new(),
        });
    }
    if pages.is_empty() {
        bail!("docs/SUMMARY.md lists no page");
    }
    Ok(pages)
}

/// The `--help` output of every command, including subcommands.
fn reference(binary: &Path) -> Result<String> {
    let mut text = "# All switches\n\nWhat `--help` prints.\n".to_owned();
    let mut open: Vec<Vec<String>> = vec![Vec::new()];
    while let Some(words) = open.pop() {
        let help = shell::read(Command::new(binary).args(&words).arg("--help"))?;
        let help = help.stdout;
        // The program lists its commands in groups, after the group's name.
        let (head, indent) = match words.is_empty() {
            true => ("Usage:", 9),
            false => ("Commands:", 2),
        };
        let below = help
            .lines()
            .skip_while(|line| !line.starts_with(head))
            .skip(1 + usize::from(words.is_empty()))
            .take_while(|line| !line.is_empty())
            .filter_map(|line| line.get(indent..)?.split(' ').next())
            .filter(|name| !name.is_empty() && *name != "help");
        let mut below: Vec<Vec<String>> = below
            .map(|name| words.iter().cloned().chain([name.to_owned()]).collect())
            .collect();
        below.reverse();
        let command = std::iter::once("stripewise")
            .chain(words.iter().map(String::as_str))
            .collect::<Vec<_>>()
            .join(" ");
        write!(text, "\n## {command}\n\n```\n{}\n```\n", help.trim_end())?;
        open.extend(below);
    }
    Ok(text)
}

/// All pages, with the headings that links can target.
struct Book<'a> {
    pages: &'a [Page],
    anchors: BTreeMap<&'a str, BTreeSet<String>>,
}

impl<'a> Book<'a> {
    fn of(pages: &'a [Page]) -> Book<'a> {
        let anchors = |page: &'a Page| {
            let (_, slugs) = with_slugs(&page.text);
            (page.path.as_str(), slugs.into_iter().collect())
        };
        Book {
            pages,
            anchors: pages.iter().map(anchors).collect(),
        }
    }

    /// A page's text as HTML, with links to pages of the book.
    fn body(&self, root: &Path, page: &Page) -> Result<String> {
        let (mut events, _) = with_slugs(&page.text);
        for event in &mut events {
            if let Event::Start(Tag::Link { dest_url, .. }) = event {
                let led = self.led(root, page, dest_url)?;
                *dest_url = CowStr::from(led);
            }
        }
        let mut body = String::new();
        html::push_html(&mut body, events.into_iter());
        Ok(body)
    }

    /// The target of a page's link in the book; files outside the book are on the project's site.
    fn led(&self, root: &Path, page: &Page, link: &str) -> Result<String> {
        if link.contains("://") || link.starts_with("mailto:") {
            return Ok(link.to_owned());
        }
        let (file, anchor) = link
            .split_once('#')
            .map_or((link, None), |(file, anchor)| (file, Some(anchor)));
        let folder = Path::new(&page.path).parent().unwrap_or(Path::new(""));
        let target = match file {
            "" => page.path.clone(),
            file => flat(&folder.join(file)),
        };
        let Some(anchors) = self.anchors.get(target.as_str()) else {
            let place = flat(&Path::new("docs").join(&target));
            if !root.join(&place).exists() {
                bail!("{}: the link to `{link}` leads nowhere", page.path);
            }
            let repository = env!("CARGO_PKG_REPOSITORY");
            return Ok(format!("{repository}/blob/main/{place}"));
        };
        if let Some(anchor) = anchor.filter(|anchor| !anchors.contains(*anchor)) {
            bail!("{}: {target} has no heading `{anchor}`", page.path);
        }
        let up = "../".repeat(folder.components().count());
        let anchor = anchor.map_or(String::new(), |anchor| format!("#{anchor}"));
        Ok(format!("{up}{}{anchor}", html_name(&target)))
    }

    /// The complete page with this number.
    fn page(&self, index: usize, body: &str) -> String {
        let page = &self.pages[index];
        let up = "../".repeat(page.path.matches('/').count());
        let link = |other: &Page| {
            let current = if other.path == page.path {
                " aria-current=\"page\""
            } else {
                ""
            };
            let (name, title) = (html_name(&other.path), escaped(&other.title));
            format!("<a href=\"{up}{name}\"{current}>{title}</a>\n")
        };
        let mut nav = String::new();
        for other in self.pages {
            if let Some(part) = &other.part {
                let _ = writeln!(nav, "<b>{}</b>", escaped(part));
            }
            nav.push_str(&link(other));
        }
        let before = index.checked_sub(1).map(|before| link(&self.pages[before]));
        let after = self.pages.get(index + 1).map(link);
        format!(
            "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width\">\n\
             <title>{} - Stripewise</title>\n<style>{STYLE}</style></head>\n<body>\n\
             <nav>{nav}</nav>\n<main>\n{body}<footer><span>{}</span><span>{}</span></footer>\n\
             </main></body></html>\n",
            escaped(&page.title),
            before.unwrap_or_default(),
            after.unwrap_or_default()
        )
    }
}

/// A path without `.` and `..`.
fn flat(path: &Path) -> String {
    let mut parts: Vec<&str> = Vec::new();
    for part in path.iter().filter_map(|part| part.to_str()) {
        match part {
            "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;")
}

/// The events of a text, with heading ids as on GitHub, and these ids.
fn with_slugs(text: &str) -> (Vec<Event<'_>>, Vec<String>) {
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH;
    let mut events: Vec<Event<'_>> = Parser::new_ext(text, options).collect();
    let mut slugs: Vec<String> = Vec::new();
    let mut start: Option<(usize, HeadingLevel)> = None;
    let mut words = String::new();
    for index in 0..events.len() {
        match &events[index] {
            Event::Start(Tag::Heading { level, .. }) => {
                start = Some((index, *level));
                words.clear();
            }
            Event::Text(text) | Event::Code(text) if start.is_some() => words.push_str(text),
            Event::End(TagEnd::Heading(_)) => {
                let Some((begin, level)) = start.take() else {
                    continue;
                };
                let plain = slug(&words);
                let same = slugs.iter().filter(|other| **other == plain).count();
                let name = if same == 0 {
                    plain
                } else {
                    format!("{plain}-{same}")
                };
                events[begin] = Event::Start(Tag::Heading {
                    level,
                    id: Some(CowStr::from(name.clone())),
                    classes: Vec::new(),
                    attrs: Vec::new(),
                });
                slugs.push(name);
            }
            _ => {}
        }
    }
    (events, slugs)
}

/// `Several hosts?` is `several-hosts`.
fn slug(heading: &str) -> String {
    let lower = heading.to_lowercase();
    let signs = lower.chars().filter_map(|sign| match sign {
        ' ' => Some('-'),
        '-' | '_' => Some(sign),
        sign => sign.is_alphanumeric().then_some(sign),
    });
    signs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn page(path: &str, text: &str) -> Page {
        Page {
            title: path.to_owned(),
            path: path.to_owned(),
            part: None,
            text: text.to_owned(),
        }
    }

    #[test]
    fn a_table_of_contents_is_read_in_order_with_its_parts() {
        let summary = "# Book\n\n# Part one\n\n- [First](a.md)\n- [Second](b/c.md)\n\n# Two\n\n- [Third](d.md)\n";
        let pages = contents(summary).expect("pages");
        let entries: Vec<(&str, &str, Option<&str>)> = pages
            .iter()
            .map(|page| {
                (
                    page.title.as_str(),
                    page.path.as_str(),
                    page.part.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            entries,
            [
                ("First", "a.md", Some("Part one")),
                ("Second", "b/c.md", None),
                ("Third", "d.md", Some("Two")),
            ]
        );
        assert!(contents("# Book\n").is_err());
    }

    #[test]
    fn links_lead_to_pages_of_the_book_and_to_headings_that_are_there() {
        let pages = [
            page(
                "a.md",
                "# Has it changed?\n\n[b](b/c.md#two) [out](../README.md)\n",
            ),
            page(
                "b/c.md",
                "# One\n\n## Two\n\n## Two\n\n[up](../a.md#has-it-changed)\n",
            ),
        ];
        let root = root::path();
        let book = Book::of(&pages);
        let body = book.body(&root, &pages[0]).expect("a page");
        assert!(body.contains("<h1 id=\"has-it-changed\">"), "{body}");
        assert!(body.contains("href=\"b/c.html#two\""), "{body}");
        assert!(body.contains("/blob/main/README.md\""), "{body}");
        let body = book.body(&root, &pages[1]).expect("a page");
        assert!(body.contains("href=\"../a.html#has-it-changed\""), "{body}");
        assert!(body.contains("<h2 id=\"two-1\">"), "{body}");
        for dead in ["[x](none.md)", "[x](b/c.md#three)"] {
            let bad = page("a.md", dead);
            assert!(book.body(&root, &bad).is_err(), "{dead}");
        }
        let whole = book.page(1, &body);
        assert!(whole.contains("<a href=\"../a.html\">a.md</a>"), "{whole}");
    }
}
