//! Pictures of views without a window, a display or a GPU.
//!
//! ```text
//! ui ──offscreen::run──▶ Frame (shapes) ──svg::write──▶ SVG ──png::render──▶ PNG
//! ```
//!
//! One path for every view: what is exported is what the window shows, because the same
//! code paints it. For that, painters keep to what has a vector form: rectangles, lines,
//! circles, paths, text and meshes without textures. A texture or a paint callback is
//! left out and counted in a comment at the end of the SVG.

pub mod offscreen;
pub mod png;
pub mod svg;

#[cfg(test)]
mod tests;

pub use offscreen::Frame;

/// Why a picture could not be made.
#[derive(Debug, thiserror::Error)]
pub enum ExportError {
    /// The picture would have no or too many pixels.
    #[error(
        "a picture of {width_px} × {height_px} pixels is outside of 1 to {max_side_px} a side \
         and {max_mpx} megapixels in all; choose a smaller size or scale",
        max_side_px = png::MAX_SIDE_PX,
        max_mpx = png::MAX_PIXELS / 1_000_000
    )]
    Size {
        /// Wanted width.
        width_px: f64,
        /// Wanted height.
        height_px: f64,
    },
    /// The SVG is not valid; this is a bug unless the SVG came from elsewhere.
    #[error("reading the SVG failed")]
    Svg(#[source] resvg::usvg::Error),
    /// The PNG encoder failed.
    #[error("encoding the PNG failed: {0}")]
    Encode(String),
}

/// The PNG of a frame with the number of pixels that the frame was laid out for.
///
/// # Errors
/// [`ExportError::Size`] for a frame beyond the limits of [`png`].
pub fn png_of(frame: &Frame) -> Result<Vec<u8>, ExportError> {
    png::render(&svg::write(frame), frame.pixels_per_point)
}
