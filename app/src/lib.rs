//! Tracecard's program: command line, window, views and pictures of them.

pub mod cli;
pub mod command;
pub mod describe;
pub mod dock;
pub mod export;
pub mod follow;
pub mod fonts;
pub mod format;
pub mod gui;
pub mod headline;
pub mod jobs;
pub mod memo;
mod mesh;
pub mod report;
pub mod run;
pub mod short_name;
pub mod state;
pub mod text_width;
pub mod theme;
pub mod time_scale;
pub mod views;
pub mod widgets;
