//! A server that a test started, and a client that says exactly what it is told to.

use super::{Desk, PATIENCE};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// `stripewise serve`, ended with the test.
pub struct Served {
    pub child: Child,
    /// `127.0.0.1:8123`.
    pub address: String,
    /// The address with the token behind #.
    pub url: String,
    /// For scripts.
    pub bearer: String,
    pub token_file: String,
}

/// What came back.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub head: String,
    pub body: String,
}

impl Served {
    pub fn start(desk: &Desk, arguments: &[&str]) -> Served {
        Served::of(desk.command(&[&["serve", "--json"], arguments].concat()))
    }

    /// With another store than the desk's.
    pub fn other_store(desk: &Desk, store: &str) -> Served {
        let mut command = Command::new(super::program());
        command
            .args(["serve", "--json", "--store", store])
            .current_dir(desk.path());
        Served::of(command)
    }

    fn of(mut command: Command) -> Served {
        let mut child = command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .expect("the program starts");
        let mut lines = BufReader::new(child.stdout.take().expect("a pipe"));
        let mut document = String::new();
        while !document.ends_with("\n}\n") {
            let read = lines.read_line(&mut document).expect("text");
            assert!(read > 0, "it ended: {document}");
        }
        let document: Value = serde_json::from_str(&document).expect("JSON");
        let text = |name: &str| document["serve"][name].as_str().expect("text").to_owned();
        let token_file = text("token_file");
        let bearer = std::fs::read_to_string(&token_file).expect("a token");
        Served {
            child,
            address: text("listens_on"),
            url: text("url"),
            bearer: bearer.trim().to_owned(),
            token_file,
        }
    }

    /// The lines of a request as they are, and what comes back.
    pub fn raw(&self, request: &str) -> Reply {
        let mut stream = self.connect();
        stream.write_all(request.as_bytes()).expect("it listens");
        let mut bytes = Vec::new();
        // A refusal may close before all was read.
        let _ = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((text.as_str(), ""));
        let status = head
            .split(' ')
            .nth(1)
            .and_then(|status| status.parse().ok());
        Reply {
            status: status.unwrap_or(0),
            body: unchunked(head, body),
            head: head.to_owned(),
        }
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).expect("it listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        stream
    }

    /// A request with these headers besides host and end.
    pub fn ask(&self, method: &str, path: &str, headers: &[&str], body: &str) -> Reply {
        let headers: String = headers.iter().map(|line| format!("{line}\r\n")).collect();
        self.raw(&format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nConnection: close\r\nContent-Length: {}\r\n{headers}\r\n{body}",
            self.address,
            body.len()
        ))
    }

    /// As a script with the token.
    pub fn get(&self, path: &str) -> Reply {
        self.ask(
            "GET",
            path,
            &[&format!("Authorization: Bearer {}", self.bearer)],
            "",
        )
    }

    pub fn post(&self, path: &str, body: &str) -> Reply {
        let bearer = format!("Authorization: Bearer {}", self.bearer);
        let headers = [bearer.as_str(), "Content-Type: application/json"];
        self.ask("POST", path, &headers, body)
    }

    /// The first line of an answer.
    pub fn json(&self, path: &str) -> Value {
        let reply = self.get(path);
        assert_eq!(reply.status, 200, "{path}: {reply:?}");
        serde_json::from_str(reply.body.lines().next().expect("a line")).expect("JSON")
    }

    /// The token behind #.
    pub fn login(&self) -> String {
        self.url.split_once('#').expect("a token").1.to_owned()
    }
}

fn unchunked(head: &str, body: &str) -> String {
    if !head
        .to_ascii_lowercase()
        .contains("transfer-encoding: chunked")
    {
        return body.to_owned();
    }
    let (mut whole, mut rest) = (String::new(), body);
    while let Some((length, after)) = rest.split_once("\r\n") {
        let length = usize::from_str_radix(length.trim(), 16).unwrap_or(0);
        if length == 0 || after.len() < length {
            break;
        }
        whole.push_str(&after[..length]);
        rest = after[length..].trim_start_matches("\r\n");
    }
    whole
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
