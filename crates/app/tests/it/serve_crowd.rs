//! Ten thousand connections at once: the server takes few at a time, stays small, and
//! answers when they have gone.

use super::support::served::Served;
use super::support::{Desk, skip};
use rustix::fd::OwnedFd;
use rustix::net::{AddressFamily, SocketFlags, SocketType, connect, socket_with};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
use std::net::SocketAddr;

const CONNECTIONS: usize = 10_000;
/// Descriptors for everything else that tests have open.
const OTHERS: u64 = 1_000;
/// What the server may hold in memory of its own.
const MEMORY_MAX_KIB: u64 = 50 << 10;
/// It takes 256 that have not shown the token and 64 that have, and has a few files besides.
const FILES_MAX: usize = 256 + 64 + 40;

/// Whether so many descriptors may be open; raises the limit as far as that is allowed.
fn may_open(files: u64) -> bool {
    let now = getrlimit(Resource::Nofile);
    if now.current.is_none_or(|current| current >= files) {
        return true;
    }
    let raised = Rlimit {
        current: Some(files),
        maximum: now.maximum,
    };
    now.maximum.is_none_or(|most| most >= files) && setrlimit(Resource::Nofile, raised).is_ok()
}

/// Asks for a connection and does not wait for it.
fn knock(address: SocketAddr) -> OwnedFd {
    let socket = socket_with(
        AddressFamily::INET,
        SocketType::STREAM,
        SocketFlags::NONBLOCK | SocketFlags::CLOEXEC,
        None,
    )
    .expect("a socket");
    let _ = connect(&socket, &address);
    socket
}

/// Memory of the server that is no file: of now, in KiB.
fn memory_kib(served: &Served) -> u64 {
    let path = format!("/proc/{}/status", served.child.id());
    let status = std::fs::read_to_string(path).expect("its status");
    let line = status.lines().find(|line| line.starts_with("RssAnon:"));
    let number = line.and_then(|line| line.split_whitespace().nth(1));
    number
        .and_then(|number| number.parse().ok())
        .expect("RssAnon")
}

fn files(served: &Served) -> usize {
    let path = format!("/proc/{}/fd", served.child.id());
    std::fs::read_dir(path).expect("its files").count()
}

#[test]
fn ten_thousand_connections_are_bounded_and_leave_the_server_small() {
    own_process!();
    let test = "serve_crowd::ten_thousand_connections";
    if !may_open(CONNECTIONS as u64 + OTHERS) {
        return skip(test, "11,000 open files (ulimit -n)");
    }
    let desk = Desk::new();
    let served = Served::start(&desk, &[]);
    let address: SocketAddr = served.address.parse().expect("an address");
    let mut crowd = Vec::with_capacity(CONNECTIONS);
    let (mut most_files, mut most_memory) = (0, 0);
    for number in 0..CONNECTIONS {
        crowd.push(knock(address));
        if number % 500 == 499 {
            most_files = most_files.max(files(&served));
            most_memory = most_memory.max(memory_kib(&served));
        }
    }
    // Half of them say a word and no more.
    for socket in crowd.iter().step_by(2) {
        let _ = rustix::io::write(socket, b"GET /login HTTP/1.1\r\nX: ");
    }
    most_files = most_files.max(files(&served));
    most_memory = most_memory.max(memory_kib(&served));
    assert!(most_files <= FILES_MAX, "{most_files} open files");
    // Whoever has the token is answered at once, however many say nothing.
    assert_eq!(served.get("/api/now").status, 200);
    drop(crowd);
    assert_eq!(served.ask("GET", "/login", &[], "").status, 200);
    most_memory = most_memory.max(memory_kib(&served));
    assert!(most_memory < MEMORY_MAX_KIB, "{most_memory} KiB");
}
