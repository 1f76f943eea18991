//! Everything the user can ask for, as data; menus, shortcuts and palette come from one list.

use std::path::PathBuf;

use egui::{Key, Modifiers};
use tracecard_model::{SliceId, Span};

use crate::state::{Appearance, Slot, Wheel};
use crate::views::ViewId;
use crate::views::timeline::Area;

/// A wish, carried out between frames by the window.
#[derive(Clone, Debug, PartialEq)]
pub enum Command {
    /// Ask for a file.
    OpenDialog,
    /// Open a file in place of the run on screen.
    Open(PathBuf),
    /// Stop a running job.
    Cancel(Slot),
    /// Close the message under the menu bar.
    DismissNotice,
    /// Bring a view to the front, reopening it if it was closed.
    Show(ViewId),
    /// Take a view out of the dock.
    Close(ViewId),
    /// Put all views back where they were at first.
    ResetLayout,
    /// Dark, light, or as the system.
    SetAppearance(Appearance),
    /// What the wheel does over the timeline.
    SetWheel(Wheel),
    /// Select a slice without moving the timeline.
    Select(Option<SliceId>),
    /// Select a slice and bring it into view in the timeline.
    Reveal(SliceId),
    /// Show this stretch in the timeline.
    ShowSpan(Span),
    /// Select a stretch of time on some lanes, or none.
    SetArea(Option<Area>),
    /// Select the stretch of time of the selected slice, on all lanes.
    AreaOfSelection,
    /// Open the search of the timeline, or type into it again.
    Search,
    /// Select the hit of the search after or before the selected one.
    SelectHit(Direction),
    /// Step back: the search is closed first, then the selected stretch of time, then the selected slice.
    Escape,
    /// Fill the timeline with the selected slice.
    FitSelection,
    /// Show the whole run.
    FitAll,
    /// Select the slice before or after the selected one on its row.
    SelectNeighbour(Direction),
    /// Select what the selected slice is tied to: its launch, what it launched, its backward.
    SelectTied(Direction),
    /// Select the slice of the same name before or after the selected one.
    SelectSameName(Direction),
    /// Move the timeline.
    Navigate(Motion),
    /// Put a text on the clipboard.
    Copy(String),
    /// Bring a table to the front, filtered by this word.
    ShowTable(ViewId, String),
    /// Put the rows of a table on the clipboard, as shown.
    CopyTable(ViewId),
    /// Show the flame graph of this stretch.
    FlameOf(Span),
    /// Open or close the command palette.
    TogglePalette,
    /// Open or close the list of shortcuts.
    ToggleHelp,
    /// Show everything larger or smaller.
    Scale(Scale),
    /// Close the window.
    Quit,
}

/// How large everything is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// A step larger.
    Larger,
    /// A step smaller.
    Smaller,
    /// As the system says.
    Normal,
}

/// Before or after.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Towards the start.
    Previous,
    /// Towards the end.
    Next,
}

/// A movement of the timeline.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Motion {
    /// Show twice as much detail for every 1.0; negative zooms out. About the mouse, or the middle.
    Zoom(f32),
    /// Later for positive shares of the view.
    Pan(f32),
    /// Down by so many points.
    Scroll(f32),
}

/// Where an action stands in the menus.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Menu {
    /// Files.
    File,
    /// Views and looks.
    View,
    /// Moving about.
    Navigate,
    /// Help.
    Help,
}

/// Something with a name and perhaps a key.
#[derive(Clone, Copy, Debug)]
pub struct Action {
    /// What menus and palette say.
    pub title: &'static str,
    /// Its menu.
    pub menu: Menu,
    /// Its keys; the first is shown. A key is bound by its place on the keyboard.
    pub keys: &'static [(Modifiers, Key)],
    /// Does it make sense only with a run on screen?
    pub needs_run: bool,
    /// What it does.
    pub command: fn() -> Command,
}

const NONE: Modifiers = Modifiers::NONE;
const SHIFT: Modifiers = Modifiers::SHIFT;
const MOD: Modifiers = Modifiers::COMMAND;

const fn action(
    menu: Menu,
    title: &'static str,
    keys: &'static [(Modifiers, Key)],
    needs_run: bool,
    command: fn() -> Command,
) -> Action {
    Action { title, menu, keys, needs_run, command }
}

/// Every action, in the order of the menus.
pub const ACTIONS: &[Action] = &[
    action(Menu::File, "Open…", &[(MOD, Key::O)], false, || Command::OpenDialog),
    action(Menu::File, "Quit", &[(MOD, Key::Q)], false, || Command::Quit),
    action(Menu::View, "Reset layout", &[], false, || Command::ResetLayout),
    action(Menu::View, "Look like the system", &[], false, || Command::SetAppearance(Appearance::System)),
    action(Menu::View, "Look dark", &[], false, || Command::SetAppearance(Appearance::Dark)),
    action(Menu::View, "Look light", &[], false, || Command::SetAppearance(Appearance::Light)),
    action(Menu::View, "Wheel zooms the timeline", &[], false, || Command::SetWheel(Wheel::Zooms)),
    action(Menu::View, "Wheel scrolls the timeline", &[], false, || Command::SetWheel(Wheel::Scrolls)),
    action(Menu::View, "Larger", &[(MOD, Key::Plus), (MOD, Key::Equals)], false, || {
        Command::Scale(Scale::Larger)
    }),
    action(Menu::View, "Smaller", &[(MOD, Key::Minus)], false, || Command::Scale(Scale::Smaller)),
    action(Menu::View, "Normal size", &[], false, || Command::Scale(Scale::Normal)),
    action(Menu::Navigate, "Fit the whole run", &[(NONE, Key::Num0), (MOD, Key::Num0)], true, || {
        Command::FitAll
    }),
    action(Menu::Navigate, "Fit the selection", &[(NONE, Key::F)], true, || Command::FitSelection),
    action(Menu::Navigate, "Select the previous slice", &[(NONE, Key::Comma)], true, || {
        Command::SelectNeighbour(Direction::Previous)
    }),
    action(Menu::Navigate, "Select the next slice", &[(NONE, Key::Period)], true, || {
        Command::SelectNeighbour(Direction::Next)
    }),
    action(Menu::Navigate, "Search…", &[(NONE, Key::Slash)], true, || Command::Search),
    action(Menu::Navigate, "Follow the arrow back", &[(NONE, Key::OpenBracket)], true, || {
        Command::SelectTied(Direction::Previous)
    }),
    action(Menu::Navigate, "Follow the arrow", &[(NONE, Key::CloseBracket)], true, || {
        Command::SelectTied(Direction::Next)
    }),
    action(Menu::Navigate, "Select the previous of this name", &[(Modifiers::ALT, Key::Comma)], true, || {
        Command::SelectSameName(Direction::Previous)
    }),
    action(Menu::Navigate, "Select the next of this name", &[(Modifiers::ALT, Key::Period)], true, || {
        Command::SelectSameName(Direction::Next)
    }),
    action(Menu::Navigate, "Select the time of the slice", &[(NONE, Key::R)], true, || {
        Command::AreaOfSelection
    }),
    action(Menu::Navigate, "Deselect", &[(NONE, Key::Escape)], true, || Command::Escape),
    action(Menu::Help, "Find a command…", &[(MOD.plus(SHIFT), Key::P)], false, || Command::TogglePalette),
    action(Menu::Help, "Keyboard shortcuts", &[(SHIFT, Key::Slash), (NONE, Key::F1)], false, || {
        Command::ToggleHelp
    }),
];

/// Keys that move for as long as they are held: key, what it does, and the motion a second.
pub const HELD: &[(Key, &str, Motion)] = &[
    (Key::W, "Zoom in", Motion::Zoom(3.0)),
    (Key::S, "Zoom out", Motion::Zoom(-3.0)),
    (Key::A, "Move left", Motion::Pan(-1.2)),
    (Key::D, "Move right", Motion::Pan(1.2)),
    (Key::PageUp, "Scroll up", Motion::Scroll(-700.0)),
    (Key::PageDown, "Scroll down", Motion::Scroll(700.0)),
];

/// Ways of the mouse, for the list of shortcuts.
pub const MOUSE: &[(&str, &str)] = &[
    ("Wheel, Ctrl + wheel", "Zoom at the pointer"),
    ("Shift + wheel, drag", "Move in time"),
    ("Wheel over the labels", "Scroll up and down"),
    ("Drag on the time axis", "Select a stretch of time on all lanes"),
    ("Shift + drag", "Select a stretch of time on the lanes touched; Alt: without snapping"),
    ("Drag an edge", "Make the selected stretch shorter or longer"),
    ("Click", "Select a slice"),
    ("Double click", "Fit a slice"),
];

impl Motion {
    /// The same motion, by a factor.
    pub fn times(self, factor: f32) -> Self {
        match self {
            Self::Zoom(amount) => Self::Zoom(amount * factor),
            Self::Pan(amount) => Self::Pan(amount * factor),
            Self::Scroll(amount) => Self::Scroll(amount * factor),
        }
    }
}

impl Action {
    /// Is one of its keys this one, with exactly these modifiers?
    pub fn is_bound_to(&self, modifiers: Modifiers, key: Key) -> bool {
        self.keys.iter().any(|(wanted, bound)| *bound == key && modifiers.matches_exact(*wanted))
    }

    /// The key as menus show it: `Ctrl+O`.
    pub fn shown_key(&self, ctx: &egui::Context) -> Option<String> {
        let (modifiers, key) = *self.keys.first()?;
        let text = ctx.format_shortcut(&egui::KeyboardShortcut::new(modifiers, key));
        // egui writes names where people write signs.
        Some(match text.as_str() {
            "Comma" => ",".to_owned(),
            "Period" => ".".to_owned(),
            "OpenBracket" => "[".to_owned(),
            "CloseBracket" => "]".to_owned(),
            "Alt+Comma" => "Alt+,".to_owned(),
            "Alt+Period" => "Alt+.".to_owned(),
            "⌥Comma" => "⌥,".to_owned(),
            "⌥Period" => "⌥.".to_owned(),
            "Slash" => "/".to_owned(),
            "Shift+Slash" | "⇧Slash" => "?".to_owned(),
            "Escape" => "Esc".to_owned(),
            _ => text,
        })
    }
}

/// The actions whose title holds all words, in any order, upper or lower case alike.
pub fn find(words: &str) -> Vec<&'static Action> {
    let words: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
    let is_match = |action: &&Action| {
        let title = action.title.to_lowercase();
        words.iter().all(|word| title.contains(word.as_str()))
    };
    ACTIONS.iter().filter(is_match).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_actions_share_a_key() {
        let mut seen = Vec::new();
        for (modifiers, key) in ACTIONS.iter().flat_map(|action| action.keys) {
            assert!(!seen.contains(&(modifiers, key)), "{key:?}");
            assert!(*modifiers != NONE || !HELD.iter().any(|held| held.0 == *key), "{key:?} is held");
            seen.push((modifiers, key));
        }
    }

    #[test]
    fn keys_need_exactly_their_modifiers() {
        let fit = &ACTIONS.iter().find(|action| action.title == "Fit the selection").unwrap();
        assert!(fit.is_bound_to(NONE, Key::F));
        assert!(!fit.is_bound_to(SHIFT, Key::F) && !fit.is_bound_to(NONE, Key::G));
    }

    #[test]
    fn the_palette_finds_words_in_any_order() {
        let titles = |words| find(words).iter().map(|action| action.title).collect::<Vec<_>>();
        assert_eq!(titles("run FIT"), ["Fit the whole run"]);
        assert!(titles("no such thing").is_empty());
        assert_eq!(titles("").len(), ACTIONS.len());
    }
}
