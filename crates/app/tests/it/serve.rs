//! `serve` as its attackers and its scripts meet it: over a socket, byte for byte.

use super::support::served::Served;
use super::support::{Desk, PATIENCE, program, users_file, wait_until};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::process::Command;
use std::time::{Duration, Instant};

fn run(desk: &Desk, label: &str) {
    desk.run(&[
        "run",
        "sim:nvme",
        "--duration",
        "1ms",
        "--label",
        label,
        "--quiet",
    ])
    .done();
}

#[test]
fn only_this_machine_is_listened_to() {
    let desk = Desk::new();
    for address in ["0.0.0.0", "192.0.2.7", "::"] {
        desk.run(&["serve", "--address", address])
            .failed(2, &[address, "ssh -L"]);
    }
    let missing = desk.file("missing");
    desk.run(&["serve", "--allow-runs", &missing])
        .failed(3, &["missing", "--allow-runs"]);
    let directory = desk.path().display().to_string();
    desk.run(&["serve", "--allow-runs", &directory])
        .failed(3, &["neither a file nor a block device"]);
}

#[test]
fn too_few_files_are_an_error_and_no_panic() {
    let desk = Desk::new();
    let close = "for file in 3 4 5 6 7 8 9; do eval \"exec $file>&-\"; done";
    for files in 4..12 {
        let script = format!("{close}; ulimit -n {files}; exec timeout 60 $0 serve");
        let output = Command::new("bash")
            .args(["-c", &script, program()])
            .env("HOME", desk.path())
            .env_remove("XDG_DATA_HOME")
            .output()
            .expect("a shell");
        let code = output.status.code();
        let message = String::from_utf8_lossy(&output.stderr);
        assert!(matches!(code, Some(3 | 5)), "{files}: {code:?} {message}");
    }
}

#[test]
fn a_browser_signs_in_once_and_scripts_have_a_file_of_their_own() {
    let desk = Desk::new();
    run(&desk, "x");
    let served = Served::start(&desk, &[]);
    let mode = std::fs::metadata(&served.token_file)
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!served.url.contains(&served.bearer), "two tokens");
    let origin = format!("Origin: http://{}", served.address);
    let login = format!("{{\"token\":\"{}\"}}", served.login());
    let headers = ["Content-Type: application/json", origin.as_str()];
    let reply = served.ask("POST", "/login", &headers, &login);
    assert_eq!(reply.status, 204, "{reply:?}");
    let line = reply
        .head
        .lines()
        .find(|line| line.to_ascii_lowercase().starts_with("set-cookie:"));
    let cookie = line.expect("a cookie")[11..].trim();
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict"),
        "{cookie}"
    );
    let cookie = format!("Cookie: {}", cookie.split(';').next().unwrap());
    assert_eq!(served.ask("GET", "/api/now", &[&cookie], "").status, 200);
    assert_eq!(
        served.ask("POST", "/login", &headers, &login).status,
        403,
        "good once"
    );
    assert_eq!(served.ask("GET", "/api/now", &[], "").status, 401);
    // Another browser: the script asks for another token.
    let reply = served.post("/api/login", "{}");
    assert!(
        reply.status == 200 && reply.body.contains("/login#"),
        "{reply:?}"
    );
    let forbidden = served.ask(
        "POST",
        "/api/login",
        &[&cookie, &origin, "Content-Type: application/json"],
        "{}",
    );
    assert_eq!(forbidden.status, 403);
}

#[test]
fn every_page_is_refused_to_other_hosts_origins_and_methods() {
    let desk = Desk::new();
    run(&desk, "x");
    let served = Served::start(&desk, &[]);
    let bearer = format!("Authorization: Bearer {}", served.bearer);
    for path in [
        "/",
        "/history",
        "/run/last",
        "/metrics",
        "/api/now",
        "/api/runs",
        "/app.js",
        "/nonesuch",
    ] {
        assert_eq!(served.ask("GET", path, &[], "").status, 401, "{path}");
        for host in ["attacker.example", "localhost", "127.0.0.1:1"] {
            let reply = served.raw(&format!(
                "GET {path} HTTP/1.1\r\nHost: {host}\r\n{bearer}\r\nConnection: close\r\n\r\n"
            ));
            assert_eq!(reply.status, 421, "{path} as {host}");
            assert!(!reply.head.to_ascii_lowercase().contains("access-control"));
        }
        for header in [
            "Origin: http://attacker.example",
            "Origin: null",
            "Sec-Fetch-Site: cross-site",
        ] {
            assert_eq!(
                served.ask("GET", path, &[&bearer, header], "").status,
                403,
                "{path} {header}"
            );
        }
        for method in ["PUT", "DELETE", "OPTIONS", "TRACE"] {
            assert_eq!(
                served.ask(method, path, &[&bearer], "").status,
                405,
                "{method} {path}"
            );
        }
    }
    // What does something is not there for GET, nor for a form.
    for path in ["/api/stop", "/api/login"] {
        assert_eq!(served.get(path).status, 405, "{path}");
        let form = [
            bearer.as_str(),
            "Content-Type: application/x-www-form-urlencoded",
        ];
        assert_eq!(served.ask("POST", path, &form, "").status, 415, "{path}");
    }
    let head = served.get("/").head.to_ascii_lowercase();
    for words in [
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'",
        "frame-ancestors 'none'",
        "x-content-type-options: nosniff",
        "referrer-policy: no-referrer",
        "cache-control: no-store",
    ] {
        assert!(head.contains(words), "{words}: {head}");
    }
    assert!(!head.contains("unsafe-inline"));
}

#[test]
fn heads_and_bodies_are_bounded() {
    let desk = Desk::new();
    let served = Served::start(&desk, &[]);
    let long = format!("X-Long: {}", "x".repeat(100_000));
    assert!([0, 400, 431].contains(&served.ask("GET", "/login", &[&long], "").status));
    let many: Vec<String> = (0..500).map(|n| format!("X-{n}: y")).collect();
    let many: Vec<&str> = many.iter().map(String::as_str).collect();
    assert!([0, 400, 431].contains(&served.ask("GET", "/login", &many, "").status));
    let body = format!("{{\"token\":\"{}\"}}", "x".repeat(50_000));
    assert_eq!(served.post("/login", &body).status, 413);
    assert_eq!(served.post("/api/runs", "{\"what\":").status, 400);
    assert_eq!(served.get("/run/..%2F..%2Fetc%2Fpasswd").status, 400);
    assert_eq!(served.get("/api/records?id=--help").status, 400);
    assert_eq!(
        served.ask("GET", "/login", &[], "").status,
        200,
        "it goes on"
    );
}

/// Connections that say nothing, or never finish, end by themselves, and the page answers.
#[test]
fn connections_that_never_speak_do_not_keep_others_out() {
    let desk = Desk::new();
    let served = Served::start(&desk, &[]);
    let mut held: Vec<TcpStream> = (0..300)
        .filter_map(|_| TcpStream::connect(&served.address).ok())
        .collect();
    for stream in held.iter_mut().step_by(2) {
        let _ = stream.write_all(b"GET /login HTTP/1.1\r\nHost: ");
    }
    wait_until("let in", || TcpStream::connect(&served.address).is_ok());
    assert_eq!(served.ask("GET", "/login", &[], "").status, 200);
    // The first ones were ended meanwhile.
    held[0].set_read_timeout(Some(PATIENCE)).unwrap();
    let mut rest = Vec::new();
    let ended = held[0].read_to_end(&mut rest);
    assert!(
        ended.is_ok()
            || ended.is_err_and(|error| error.kind() == std::io::ErrorKind::ConnectionReset)
    );
}

#[test]
fn a_run_started_elsewhere_is_seen_while_it_goes_on_and_its_numbers_are_the_records() {
    let desk = Desk::new();
    let served = Served::start(&desk, &[]);
    assert!(
        served.json("/api/now")["runs"]
            .as_array()
            .unwrap()
            .is_empty(),
        "no store yet"
    );
    let file = desk.file("data");
    users_file(&file, 8 << 20);
    let switches =
        "--duration 1h --interval 200ms --cache buffered --label watched --busy-ok --quiet --json";
    let arguments: Vec<&str> = ["run", &file]
        .into_iter()
        .chain(switches.split(' '))
        .collect();
    let mut running = desk.start(&arguments);
    let (mut cursor, mut seen, mut id) = (String::new(), Vec::new(), String::new());
    running.until_true("seen", || {
        let now = served.json(&format!("/api/now?cursor={cursor}"));
        cursor = now["cursor"].as_str().unwrap().to_owned();
        let run = &now["runs"][0];
        if run.is_null() {
            return false;
        }
        assert_eq!(run["label"], "watched");
        id = run["id"].as_str().unwrap().to_owned();
        seen.extend(
            run["jobs"][0]["intervals"]
                .as_array()
                .unwrap()
                .iter()
                .cloned(),
        );
        seen.len() >= 3
    });
    running.signal(rustix::process::Signal::INT);
    let answer = running.wait().ended(130);
    let record: serde_json::Value = serde_json::from_str(&answer.stdout).unwrap();
    assert_eq!(record["runs"][0]["id"], id.as_str());
    let intervals = record["runs"][0]["jobs"][0]["outcome"]["intervals"]
        .as_array()
        .unwrap();
    for (index, shown) in seen.iter().enumerate() {
        let kept = &intervals[index];
        assert_eq!(shown["index"], index, "each once, in order");
        assert_eq!(shown["start_ns"], kept["start_ns"]);
        // In an interval without any there is no kind.
        let operations = shown["read"]["operations"].as_u64().unwrap_or(0);
        assert_eq!(operations, kept["read_operations"]);
        assert_eq!(shown["read"]["latency_ns_p99"], kept["latency_ns_p99"]);
    }
    let listed = served.get("/api/runs?label=watched");
    assert!(listed.body.contains(&id), "{listed:?}");
    let page = served.get(&format!("/run/{id}"));
    assert!(page.status == 200 && page.body.contains("watched") && page.head.contains("sha256-"));
    assert_eq!(
        served.json(&format!("/api/records?id={id}"))["id"],
        id.as_str()
    );
    assert!(
        served
            .get("/metrics")
            .body
            .contains("stripewise_last_operations_per_second{target=")
    );
}

#[test]
fn runs_are_started_only_where_that_was_allowed_and_stopped_with_what_they_measured() {
    let desk = Desk::new();
    let (file, other) = (desk.file("data"), desk.file("other"));
    let content = users_file(&file, 8 << 20);
    users_file(&other, 8 << 20);
    let served = Served::start(&desk, &["--allow-runs", &file, "--busy-ok"]);
    for spec in [
        format!("{{\"what\":\"run\",\"target\":\"{other}\"}}"),
        format!("{{\"what\":\"lab\",\"target\":\"{file}\"}}"),
        "{\"what\":\"run\",\"target\":\"sim:/etc/x.toml\"}".to_owned(),
    ] {
        assert_eq!(served.post("/api/runs", &spec).status, 409, "{spec}");
    }
    let overwrite = format!("{{\"what\":\"run\",\"target\":\"{file}\",\"overwrite\":true}}");
    assert_eq!(served.post("/api/runs", &overwrite).status, 400);
    let spec = format!(
        "{{\"what\":\"run\",\"target\":\"{file}\",\"duration\":\"1h\",\"label\":\"from the page\"}}"
    );
    let started = served.post("/api/runs", &spec);
    assert_eq!(started.status, 200, "{started:?}");
    assert_eq!(served.post("/api/runs", &spec).status, 409, "one at a time");
    let began = Instant::now();
    loop {
        let now = served.json("/api/now");
        let measured = now["runs"][0]["measured_ns"].as_u64().unwrap_or(0);
        let here = served.json("/api/started");
        assert_ne!(here["last"]["has_ended"], true, "{here}");
        if measured > 0 {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "nothing is measured: {now}");
        std::thread::sleep(Duration::from_millis(100));
    }
    assert!(served.post("/api/stop", "{}").body.contains("true"));
    wait_until("stopped", || {
        served.json("/api/started")["last"]["has_ended"] == true
    });
    assert_eq!(served.json("/api/started")["last"]["exit_code"], 130);
    let run: serde_json::Value =
        serde_json::from_str(served.get("/api/runs").body.lines().next().unwrap()).unwrap();
    assert_eq!(
        (run["status"].as_str(), run["label"].as_str()),
        (Some("partial"), Some("from the page"))
    );
    assert_eq!(std::fs::read(&file).unwrap(), content, "only read");
}

#[test]
fn a_store_that_is_damaged_or_replaced_is_said_so_and_the_page_goes_on() {
    let desk = Desk::new();
    run(&desk, "<script>alert(1)</script>");
    let served = Served::start(&desk, &[]);
    let page = served.get("/run/last");
    assert!(
        !page.body.contains("<script>alert(1)"),
        "a label stays text"
    );
    let store = desk.store();
    let whole = std::fs::read(&store).unwrap();
    for side in ["-wal", "-shm"] {
        let _ = std::fs::remove_file(format!("{}{side}", store.display()));
    }
    std::fs::write(&store, b"this is no store").unwrap();
    let reply = served.get("/api/now");
    assert_eq!(reply.status, 503, "{reply:?}");
    assert!(reply.body.contains("\"error\""));
    assert_eq!(served.get("/").status, 200);
    assert_eq!(
        std::fs::read(&store).unwrap(),
        b"this is no store",
        "never written to"
    );
    std::fs::remove_file(&store).unwrap();
    assert!(
        served.json("/api/now")["runs"]
            .as_array()
            .unwrap()
            .is_empty()
    );
    std::fs::write(&store, &whole).unwrap();
    assert_eq!(served.get("/api/now").status, 200);
}

#[test]
fn ctrl_c_ends_it_and_the_token_goes_with_it() {
    let desk = Desk::new();
    let mut served = Served::start(&desk, &[]);
    assert!(std::path::Path::new(&served.token_file).exists());
    let pid = rustix::process::Pid::from_raw(i32::try_from(served.child.id()).unwrap()).unwrap();
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    let began = Instant::now();
    let status = loop {
        match served.child.try_wait().unwrap() {
            Some(status) => break status,
            None => assert!(began.elapsed() < PATIENCE, "it does not end"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0));
    assert!(!std::path::Path::new(&served.token_file).exists());
}

#[test]
fn a_socket_is_for_its_owner_and_nothing_else_is_replaced_by_one() {
    let desk = Desk::new();
    let path = desk.file("page.sock");
    let served = Served::start(&desk, &["--socket", &path]);
    let facts = std::fs::metadata(&path).unwrap();
    assert_eq!(facts.permissions().mode() & 0o777, 0o600);
    let ask = |host: &str| {
        let mut stream = std::os::unix::net::UnixStream::connect(&path).unwrap();
        let line = format!(
            "GET /api/now HTTP/1.1\r\nHost: {host}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
            served.bearer
        );
        stream.write_all(line.as_bytes()).unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        text.split(' ').nth(1).unwrap_or_default().to_owned()
    };
    assert_eq!(ask("localhost:9000"), "200");
    assert_eq!(ask("attacker.example"), "421");
    desk.run(&["serve", "--socket", &path])
        .failed(3, &["another server answers"]);
    let mine = desk.write("mine", "mine");
    desk.run(&["serve", "--socket", &mine])
        .failed(3, &["not a socket"]);
    assert_eq!(std::fs::read_to_string(&mine).unwrap(), "mine");
}
