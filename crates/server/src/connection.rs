//! Connections: how many, how long, how large their heads.

use crate::routes;
use crate::state::Shared;
use crate::system::UnixListener;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpListener;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::timeout;

/// Connections at a time; more wait in the system's queue until one ends.
const CONNECTIONS_MAX: usize = 64;
/// For the head of a request, also between two of them.
const HEAD_LIMIT: Duration = Duration::from_secs(5);
/// After that a connection ends with the answer that it is at.
const LIFE: Duration = Duration::from_secs(60);
/// For that answer.
const LAST: Duration = Duration::from_secs(15);
/// Lines of a head.
const HEADERS_MAX: usize = 64;
/// Bytes of a head.
const HEAD_BYTES_MAX: usize = 16 << 10;
/// How often the wish to stop is looked for.
const LOOK: Duration = Duration::from_millis(200);
/// After a failure to accept: no descriptors are left, and they come back.
const REST: Duration = Duration::from_millis(50);

/// What is listened on.
pub(crate) enum Listener {
    Tcp(TcpListener),
    Unix(UnixListener),
}

impl Listener {
    pub(crate) async fn tcp(address: SocketAddr) -> std::io::Result<Listener> {
        TcpListener::bind(address).await.map(Listener::Tcp)
    }

    /// Of a socket none.
    pub(crate) fn address(&self) -> Option<SocketAddr> {
        match self {
            Listener::Tcp(listener) => listener.local_addr().ok(),
            Listener::Unix(_) => None,
        }
    }

    /// Removes what was made to listen on.
    pub(crate) fn forget(self) {
        if let Listener::Unix(listener) = self {
            listener.forget();
        }
    }
}

/// Takes connections until `is_over`.
pub(crate) async fn accept(listener: &Listener, shared: &Arc<Shared>, is_over: &dyn Fn() -> bool) {
    let permits = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let router = routes::router(shared);
    while !is_over() {
        let Ok(Ok(permit)) = timeout(LOOK, Arc::clone(&permits).acquire_owned()).await else {
            continue;
        };
        let router = router.clone();
        let taken = match listener {
            Listener::Tcp(listener) => match timeout(LOOK, listener.accept()).await {
                Ok(Ok((stream, _))) => {
                    tokio::spawn(serve(stream, router, permit));
                    Ok(())
                }
                Ok(Err(error)) => Err(error),
                Err(_) => Ok(()),
            },
            Listener::Unix(listener) => match timeout(LOOK, listener.accept()).await {
                Ok(Ok(stream)) => {
                    tokio::spawn(serve(stream, router, permit));
                    Ok(())
                }
                Ok(Err(error)) => Err(error),
                Err(_) => Ok(()),
            },
        };
        if taken.is_err() {
            tokio::time::sleep(REST).await;
        }
    }
}

async fn serve<S>(stream: S, router: axum::Router, permit: OwnedSemaphorePermit)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_LIMIT)
        .max_headers(HEADERS_MAX)
        .max_buf_size(HEAD_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut connection = pin!(connection);
    if timeout(LIFE, connection.as_mut()).await.is_err() {
        connection.as_mut().graceful_shutdown();
        let _ = timeout(LAST, connection).await;
    }
    drop(permit);
}
