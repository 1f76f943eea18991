//! Tracecard's program: command line, window, views and pictures of them.

pub mod export;
pub mod fonts;
pub mod theme;
