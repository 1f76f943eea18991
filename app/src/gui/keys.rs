//! The keyboard → commands. Keys are bound by their place, so that W A S D lie together on every layout.

use std::collections::BTreeSet;

use egui::{Context, Event, Key};

use crate::command::{ACTIONS, Command, HELD};

/// Keys that move the timeline and are down now.
#[derive(Debug, Default)]
pub(super) struct HeldKeys {
    down: BTreeSet<Key>,
}

/// A tap moves as much as holding the key for this long, in seconds.
const TAP_S: f32 = 0.12;
/// After a pause frames come late; a held key does not jump for it, in seconds.
const MAX_FRAME_S: f32 = 0.1;

impl HeldKeys {
    /// Commands of the keys of this frame. While a menu or a dialog lies over the run (`is_covered`), keys
    /// do not reach it.
    pub(super) fn commands(&mut self, ctx: &Context, has_run: bool, is_covered: bool) -> Vec<Command> {
        let has_run = has_run && !is_covered;
        let is_typing = ctx.text_edit_focused();
        let (events, is_focused, frame_s) =
            ctx.input(|input| (input.events.clone(), input.focused, input.stable_dt.min(MAX_FRAME_S)));
        if !is_focused || is_typing {
            self.down.clear();
        }
        let mut commands = Vec::new();
        let mut tapped = BTreeSet::new();
        for event in events {
            let Event::Key { key, physical_key, pressed, repeat, modifiers } = event else { continue };
            let place = physical_key.unwrap_or(key);
            if !pressed {
                self.down.remove(&place);
                continue;
            }
            // While typing, only keys with Ctrl or Cmd are ours, and Esc, which ends typing.
            let is_command = modifiers.command || matches!(key, Key::F1);
            if is_typing && !is_command {
                continue;
            }
            let is_bound = |action: &&crate::command::Action| {
                action.is_bound_to(modifiers, place) || action.is_bound_to(modifiers, key)
            };
            if let Some(action) = ACTIONS.iter().find(is_bound) {
                if has_run || !action.needs_run {
                    commands.push((action.command)());
                }
            } else if modifiers.is_none() && HELD.iter().any(|held| held.0 == place) {
                self.down.insert(place);
                if !repeat {
                    tapped.insert(place);
                }
            }
        }
        if has_run {
            for (key, _, motion) in HELD {
                let seconds = if tapped.contains(key) { TAP_S } else { frame_s };
                if tapped.contains(key) || self.down.contains(key) {
                    commands.push(Command::Navigate(motion.times(seconds)));
                }
            }
        }
        if !self.down.is_empty() {
            ctx.request_repaint();
        }
        commands
    }
}
