//! Each attack of the table above, and requests that must keep working.

use super::*;
use axum::http::Request;

const ADDRESS: &str = "127.0.0.1:8123";

fn guard() -> Guard {
    Guard::new(Hosts::of(ADDRESS.parse().unwrap())).unwrap()
}

fn judged(
    guard: &Guard,
    line: (&str, &str),
    headers: &[(&str, &str)],
) -> Result<Client, StatusCode> {
    let mut request = Request::builder().method(line.0).uri(line.1);
    for (name, value) in headers {
        request = request.header(*name, *value);
    }
    let (parts, ()) = request.body(()).unwrap().into_parts();
    guard.judge(&parts).map_err(|refusal| refusal.status)
}

fn signed_in(guard: &Guard) -> String {
    let token = guard.new_login().unwrap();
    let cookie = guard.sign_in(&token).unwrap();
    assert!(
        cookie.ends_with("; Path=/; HttpOnly; SameSite=Strict"),
        "{cookie}"
    );
    cookie.split(';').next().unwrap().to_owned()
}

#[test]
fn only_the_exact_hosts_are_answered() {
    let guard = guard();
    let bearer = format!("Bearer {}", guard.bearer());
    for (host, is_ours) in [
        (ADDRESS, true),
        ("localhost:8123", true),
        ("localhost", false),
        ("localhost:8124", false),
        ("127.0.0.1", false),
        ("127.0.0.1:8123.attacker.example", false),
        ("attacker.example:8123", false),
        ("LOCALHOST:8123", false),
        ("localhost:8123 ", false),
        ("user@localhost:8123", false),
        ("[::1]:8123", false),
        ("0.0.0.0:8123", false),
        ("", false),
    ] {
        let answer = judged(
            &guard,
            ("GET", "/"),
            &[("host", host), ("authorization", &bearer)],
        );
        assert_eq!(answer.is_ok(), is_ours, "{host:?}: {answer:?}");
    }
    let two = [
        ("host", ADDRESS),
        ("host", ADDRESS),
        ("authorization", &bearer),
    ];
    assert!(judged(&guard, ("GET", "/"), &two).is_err());
    assert!(judged(&guard, ("GET", "/"), &[("authorization", &bearer)]).is_err());
    let line = ("GET", "http://attacker.example/");
    let one = [("host", ADDRESS), ("authorization", bearer.as_str())];
    assert_eq!(
        judged(&guard, line, &one),
        Err(StatusCode::MISDIRECTED_REQUEST)
    );
}

#[test]
fn nobody_without_a_token_gets_more_than_the_page_to_sign_in() {
    let guard = guard();
    let cookie = signed_in(&guard);
    let wrong = format!("{cookie}0");
    let other = cookie.replace("8123", "8124");
    for (path, headers, client) in [
        ("/login", vec![], Some(Client::Anonymous)),
        ("/", vec![], None),
        ("/api/now", vec![], None),
        ("/metrics", vec![], None),
        ("/run/x", vec![("cookie", "")], None),
        ("/", vec![("cookie", wrong.as_str())], None),
        ("/", vec![("cookie", other.as_str())], None),
        ("/", vec![("authorization", "Bearer ")], None),
        ("/", vec![("authorization", "Bearer 0")], None),
        (
            "/",
            vec![("cookie", cookie.as_str())],
            Some(Client::Browser),
        ),
    ] {
        let all: Vec<(&str, &str)> = headers.into_iter().chain([("host", ADDRESS)]).collect();
        assert_eq!(
            judged(&guard, ("GET", path), &all).ok(),
            client,
            "{path} {all:?}"
        );
    }
}

#[test]
fn a_login_is_good_once() {
    let guard = guard();
    let token = guard.new_login().unwrap();
    assert!(guard.sign_in("").is_none() && guard.sign_in(&token[1..]).is_none());
    assert!(guard.sign_in(&token).is_some());
    assert!(guard.sign_in(&token).is_none());
    let first = guard.new_login().unwrap();
    let second = guard.new_login().unwrap();
    assert!(guard.sign_in(&first).is_none() && guard.sign_in(&second).is_some());
}

#[test]
fn other_sites_may_not_ask_in_the_users_browser() {
    let guard = guard();
    let cookie = signed_in(&guard);
    let ours = format!("http://{ADDRESS}");
    let json = ("content-type", "application/json");
    for (method, headers, is_ours) in [
        ("GET", vec![("sec-fetch-site", "none")], true),
        ("GET", vec![("sec-fetch-site", "same-origin")], true),
        ("GET", vec![("sec-fetch-site", "cross-site")], false),
        ("GET", vec![("sec-fetch-site", "same-site")], false),
        ("GET", vec![("origin", "http://attacker.example")], false),
        ("GET", vec![("origin", "null")], false),
        ("GET", vec![("origin", "http://localhost:8123")], false),
        ("POST", vec![json, ("origin", ours.as_str())], true),
        ("POST", vec![json], false),
        ("POST", vec![("origin", ours.as_str())], false),
        (
            "POST",
            vec![("content-type", "text/plain"), ("origin", ours.as_str())],
            false,
        ),
        (
            "POST",
            vec![json, ("origin", ours.as_str()), ("sec-fetch-site", "none")],
            false,
        ),
        (
            "POST",
            vec![json, ("origin", "https://127.0.0.1:8123")],
            false,
        ),
        ("PUT", vec![json, ("origin", ours.as_str())], false),
        ("OPTIONS", vec![], false),
    ] {
        let own = [("host", ADDRESS), ("cookie", cookie.as_str())];
        let all: Vec<(&str, &str)> = headers.into_iter().chain(own).collect();
        let answer = judged(&guard, (method, "/api/stop"), &all);
        assert_eq!(answer.is_ok(), is_ours, "{method} {all:?}: {answer:?}");
    }
    let bearer = format!("Bearer {}", guard.bearer());
    let script = [("host", ADDRESS), ("authorization", bearer.as_str()), json];
    assert_eq!(
        judged(&guard, ("POST", "/api/stop"), &script),
        Ok(Client::Script)
    );
}

#[test]
fn behind_a_socket_the_host_is_this_machine_with_any_port() {
    let hosts = Hosts::of_socket();
    for (host, is_ours) in [
        ("localhost", true),
        ("localhost:9000", true),
        ("127.0.0.1:1", true),
        ("localhost:x", false),
        ("localhost:99999", false),
        ("attacker.example", false),
        ("localhost.attacker.example:80", false),
    ] {
        assert_eq!(hosts.allow(host), is_ours, "{host}");
    }
}
