//! SVG → PNG on the CPU, with the bundled fonts and no others.

use std::sync::{Arc, OnceLock};

use resvg::tiny_skia::{Pixmap, Transform};
use resvg::usvg::{self, fontdb};

use super::ExportError;
use crate::fonts;

/// Largest width and height; what common viewers still open.
pub const MAX_SIDE_PX: u32 = 32_767;

/// Most pixels of a picture: 400 MB while it is being made.
pub const MAX_PIXELS: u64 = 100_000_000;

/// Renders an SVG at `scale` pixels a point.
///
/// Text in families that are not bundled is shown in the first bundled one. Signs that
/// no bundled font has are shown as boxes.
///
/// # Errors
/// [`ExportError::Size`] when the picture would be empty or too large,
/// [`ExportError::Svg`] when the text is no SVG.
pub fn render(svg: &str, scale: f32) -> Result<Vec<u8>, ExportError> {
    let options = usvg::Options {
        fontdb: font_database(),
        font_family: fonts::FACES[0].family.to_owned(),
        ..usvg::Options::default()
    };
    let tree = usvg::Tree::from_str(svg, &options).map_err(ExportError::Svg)?;
    let (width_px, height_px) = size_px(tree.size(), scale)?;
    let mut pixmap = Pixmap::new(width_px, height_px)
        .ok_or(ExportError::Size { width_px: f64::from(width_px), height_px: f64::from(height_px) })?;
    let transform = Transform::from_scale(scale, scale);
    resvg::render(&tree, transform, &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| ExportError::Encode(error.to_string()))
}

/// The size in whole pixels, within the limits.
fn size_px(size: usvg::Size, scale: f32) -> Result<(u32, u32), ExportError> {
    let side = |length: f32| (f64::from(length) * f64::from(scale)).round();
    let (width_px, height_px) = (side(size.width()), side(size.height()));
    let is_side = |side: f64| (1.0..=f64::from(MAX_SIDE_PX)).contains(&side);
    if is_side(width_px) && is_side(height_px) && width_px * height_px <= MAX_PIXELS as f64 {
        Ok((width_px as u32, height_px as u32))
    } else {
        Err(ExportError::Size { width_px, height_px })
    }
}

/// The bundled fonts, parsed once. Their order is the order in which usvg looks for a
/// sign that the wanted font lacks.
fn font_database() -> Arc<fontdb::Database> {
    static DATABASE: OnceLock<Arc<fontdb::Database>> = OnceLock::new();
    let database = DATABASE.get_or_init(|| {
        let mut database = fontdb::Database::new();
        for face in fonts::FACES {
            database.load_font_source(fontdb::Source::Binary(Arc::new(face.bytes)));
        }
        let [first, mono, ..] = fonts::FACES;
        database.set_serif_family(first.family);
        database.set_sans_serif_family(first.family);
        database.set_cursive_family(first.family);
        database.set_fantasy_family(first.family);
        database.set_monospace_family(mono.family);
        Arc::new(database)
    });
    Arc::clone(database)
}
