//! Design tokens of `assets/theme.toml` with typed access.
//!
//! No other file chooses a colour, a font size or a distance. [`Theme::apply`] makes
//! egui's own widgets follow the tokens.

mod contrast;
mod name_color;
mod style;

use std::sync::OnceLock;

use egui::Color32;
use serde::{Deserialize, Deserializer};

pub use contrast::contrast;

const TOKENS: &str = include_str!("../../assets/theme.toml");

/// Dark or light.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, serde::Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Light text on dark surfaces.
    #[default]
    Dark,
    /// Dark text on light surfaces.
    Light,
}

/// Everything a view needs to look right in one mode.
#[derive(Debug, PartialEq)]
pub struct Theme {
    /// Which mode the colours are for.
    pub mode: Mode,
    /// Colours.
    pub color: Colors,
    /// Font sizes in points.
    pub font: FontSizes,
    /// Distances in points.
    pub space: Spaces,
    /// Sizes of parts in points.
    pub size: Sizes,
}

/// The colours of one mode.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Colors {
    /// Wells: text edits, scroll bars.
    #[serde(deserialize_with = "color")]
    pub sunken: Color32,
    /// Behind plots and timelines, and behind the whole window.
    #[serde(deserialize_with = "color")]
    pub canvas: Color32,
    /// Panels and bars.
    #[serde(deserialize_with = "color")]
    pub panel: Color32,
    /// Buttons, cards, menus, windows, tooltips.
    #[serde(deserialize_with = "color")]
    pub raised: Color32,
    /// A raised surface under the pointer.
    #[serde(deserialize_with = "color")]
    pub hovered: Color32,
    /// A raised surface while it is pressed.
    #[serde(deserialize_with = "color")]
    pub pressed: Color32,
    /// Every second row of a table.
    #[serde(deserialize_with = "color")]
    pub stripe: Color32,
    /// One-pixel lines between panels and rows.
    #[serde(deserialize_with = "color")]
    pub separator: Color32,
    /// Edges of buttons, menus and windows.
    #[serde(deserialize_with = "color")]
    pub outline: Color32,
    /// Major grid lines of plots and timelines.
    #[serde(deserialize_with = "color")]
    pub grid: Color32,
    /// Minor grid lines.
    #[serde(deserialize_with = "color")]
    pub grid_minor: Color32,
    /// Text.
    #[serde(deserialize_with = "color")]
    pub text: Color32,
    /// Headings and the number that matters.
    #[serde(deserialize_with = "color")]
    pub text_strong: Color32,
    /// Units, hints, secondary columns; still readable.
    #[serde(deserialize_with = "color")]
    pub text_muted: Color32,
    /// Text of what cannot be used now.
    #[serde(deserialize_with = "color")]
    pub text_disabled: Color32,
    /// Numbers on axes.
    #[serde(deserialize_with = "color")]
    pub axis_text: Color32,
    /// The one accent, as text and lines.
    #[serde(deserialize_with = "color")]
    pub accent: Color32,
    /// The accent as a surface.
    #[serde(deserialize_with = "color")]
    pub accent_fill: Color32,
    /// Text on the accent surface.
    #[serde(deserialize_with = "color")]
    pub on_accent: Color32,
    /// Behind what is selected.
    #[serde(deserialize_with = "color")]
    pub selection: Color32,
    /// Around what is selected.
    #[serde(deserialize_with = "color")]
    pub selection_line: Color32,
    /// Search hits.
    #[serde(deserialize_with = "color")]
    pub search: Color32,
    /// The time cursor.
    #[serde(deserialize_with = "color")]
    pub cursor: Color32,
    /// Device time in compute kernels.
    #[serde(deserialize_with = "color")]
    pub compute: Color32,
    /// Device time in communication that nothing hides.
    #[serde(deserialize_with = "color")]
    pub communication: Color32,
    /// Device time in copies that nothing hides.
    #[serde(deserialize_with = "color")]
    pub copy: Color32,
    /// Device time with nothing to do.
    #[serde(deserialize_with = "color")]
    pub idle: Color32,
    /// Idle device time that the host causes.
    #[serde(deserialize_with = "color")]
    pub host_wait: Color32,
    /// Warnings, as text and marks.
    #[serde(deserialize_with = "color")]
    pub warning: Color32,
    /// Errors, as text and marks.
    #[serde(deserialize_with = "color")]
    pub error: Color32,
    /// All is well, as text and marks.
    #[serde(deserialize_with = "color")]
    pub ok: Color32,
    /// Shadow of menus and windows.
    #[serde(deserialize_with = "color")]
    pub shadow: Color32,
    /// Categories, the most different ones first.
    #[serde(deserialize_with = "colors")]
    pub palette: [Color32; 12],
}

/// Font sizes in points.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FontSizes {
    /// Notes and hints.
    pub small: f32,
    /// Text, buttons and tables.
    pub body: f32,
    /// Names of kernels, paths, code.
    pub mono: f32,
    /// Headings of panels.
    pub heading: f32,
    /// The headline of the overview.
    pub title: f32,
    /// Inside slices and on axes.
    pub label: f32,
}

/// Distances in points.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Spaces {
    /// Between parts of one thing.
    pub xs: f32,
    /// Between an icon and its text.
    pub s: f32,
    /// Between things.
    pub m: f32,
    /// Inside panels.
    pub l: f32,
    /// Between groups.
    pub xl: f32,
    /// Left and right of the text of a button.
    pub control_x: f32,
    /// Above and below the text of a button.
    pub control_y: f32,
}

/// Sizes of parts in points.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sizes {
    /// Height of a table row.
    pub row: f32,
    /// Height of a table header.
    pub header: f32,
    /// Height of a button.
    pub control: f32,
    /// Height of the bars at the top and the bottom of the window.
    pub bar: f32,
    /// Height of one depth of slices.
    pub slice: f32,
    /// Height of a counter track.
    pub counter: f32,
    /// Corner radius of buttons.
    pub radius_control: f32,
    /// Corner radius of menus, windows and cards.
    pub radius_panel: f32,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Tokens {
    font: FontSizes,
    space: Spaces,
    size: Sizes,
    dark: Colors,
    light: Colors,
}

impl Theme {
    /// The theme of a mode; the tokens are read once.
    pub fn of(mode: Mode) -> &'static Theme {
        static THEMES: OnceLock<[Theme; 2]> = OnceLock::new();
        let [dark, light] = THEMES.get_or_init(|| match toml::from_str::<Tokens>(TOKENS) {
            Ok(tokens) => [Mode::Dark, Mode::Light].map(|mode| Theme {
                mode,
                color: match mode {
                    Mode::Dark => tokens.dark.clone(),
                    Mode::Light => tokens.light.clone(),
                },
                font: tokens.font.clone(),
                space: tokens.space.clone(),
                size: tokens.size.clone(),
            }),
            Err(error) => unreachable!("assets/theme.toml is part of the program: {error}"),
        });
        match mode {
            Mode::Dark => dark,
            Mode::Light => light,
        }
    }

    /// The theme that a UI is being drawn in.
    pub fn of_ui(ui: &egui::Ui) -> &'static Theme {
        Theme::of(if ui.visuals().dark_mode { Mode::Dark } else { Mode::Light })
    }

    /// Whether this is the dark mode.
    pub fn is_dark(&self) -> bool {
        self.mode == Mode::Dark
    }

    /// The colour of the nth category; after twelve they repeat.
    pub fn category(&self, idx: usize) -> Color32 {
        let palette = &self.color.palette;
        palette.get(idx % palette.len()).copied().unwrap_or(self.color.idle)
    }
}

fn color<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Color32, D::Error> {
    let text = String::deserialize(deserializer)?;
    Color32::from_hex(&text).map_err(|_| serde::de::Error::custom(format!("no colour: {text}")))
}

fn colors<'de, D: Deserializer<'de>>(deserializer: D) -> Result<[Color32; 12], D::Error> {
    #[derive(Deserialize)]
    struct Hex(#[serde(deserialize_with = "color")] Color32);
    <[Hex; 12]>::deserialize(deserializer).map(|hexes| hexes.map(|Hex(color)| color))
}
