//! Exit codes, as documented in the manual. A script may rely on them.

pub use stripewise_campaign::Exit;
