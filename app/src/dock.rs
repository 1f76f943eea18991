//! Which views are where: a tree of tiles that the user rearranges.

use egui::{Id, Ui, WidgetText};
use egui_tiles::{
    Behavior, Container, Linear, LinearDir, SimplificationOptions, Tile, TileId, Tiles, Tree, UiResponse,
};

use crate::theme::Theme;
use crate::views::ViewId;

/// The tree of tiles.
#[derive(Clone, Debug, PartialEq)]
pub struct Dock {
    tree: Tree<ViewId>,
}

/// Height of a tab bar in points.
const TAB_BAR_PT: f32 = 26.0;
/// Width of the line between tiles that can be dragged, in points.
const GAP_PT: f32 = 1.0;

/// Tables that are open at first, as tabs of one tile.
const TABLES: &[ViewId] = &[
    ViewId::Kernels,
    ViewId::Operators,
    ViewId::Apis,
    ViewId::Copies,
    ViewId::Ranges,
    ViewId::Steps,
    ViewId::Idle,
    ViewId::Counters,
    ViewId::Flame,
];

impl Default for Dock {
    /// Overview on top, timeline and tables below it, details and health at the right.
    fn default() -> Self {
        let mut tiles = Tiles::default();
        let tabs = |tiles: &mut Tiles<ViewId>, views: &[ViewId]| {
            let panes = views.iter().map(|view| tiles.insert_pane(*view)).collect();
            tiles.insert_tab_tile(panes)
        };
        let overview = tabs(&mut tiles, &[ViewId::Overview]);
        let timeline = tabs(&mut tiles, &[ViewId::Timeline]);
        let tables = tabs(&mut tiles, TABLES);
        let details = tabs(&mut tiles, &[ViewId::Details, ViewId::Selection, ViewId::Health]);
        let mut split = |dir, children: [TileId; 2], frac| {
            tiles.insert_container(Container::Linear(Linear::new_binary(dir, children, frac)))
        };
        let main = split(LinearDir::Vertical, [timeline, tables], 0.66);
        let lower = split(LinearDir::Horizontal, [main, details], 0.78);
        let root = split(LinearDir::Vertical, [overview, lower], 0.26);
        Self { tree: Tree::new(Id::unique("dock"), root, tiles) }
    }
}

impl Dock {
    /// No views at all.
    pub fn empty() -> Self {
        Self { tree: Tree::empty(Id::unique("dock")) }
    }

    /// Is the view somewhere in the dock?
    pub fn is_open(&self, view: ViewId) -> bool {
        self.tree.tiles.find_pane(&view).is_some()
    }

    /// Bring a view to the front. A closed one comes back: beside its kind, else at the right.
    pub fn show(&mut self, view: ViewId) {
        if !self.is_open(view) {
            self.reopen(view);
        }
        self.tree.make_active(|_, tile| matches!(tile, Tile::Pane(pane) if *pane == view));
    }

    /// Take a view out.
    pub fn close(&mut self, view: ViewId) {
        if let Some(tile) = self.tree.tiles.find_pane(&view) {
            self.tree.remove_recursively(tile);
        }
    }

    fn reopen(&mut self, view: ViewId) {
        let pane = self.tree.tiles.insert_pane(view);
        // The tabs of a view that is of the same kind are its home.
        let home = siblings(view).iter().find_map(|sibling| {
            let tile = self.tree.tiles.find_pane(sibling)?;
            self.tree.tiles.parent_of(tile)
        });
        if let Some(home) = home
            && let Some(Tile::Container(container)) = self.tree.tiles.get_mut(home)
        {
            container.add_child(pane);
            return;
        }
        let tabs = self.tree.tiles.insert_tab_tile(vec![pane]);
        let Some(root) = self.tree.root() else {
            self.tree.root = Some(tabs);
            return;
        };
        let (dir, children, frac) = match view {
            ViewId::Overview => (LinearDir::Vertical, [tabs, root], 0.26),
            ViewId::Details | ViewId::Selection | ViewId::Health => {
                (LinearDir::Horizontal, [root, tabs], 0.78)
            }
            ViewId::Timeline => (LinearDir::Vertical, [tabs, root], 0.5),
            _ => (LinearDir::Vertical, [root, tabs], 0.68),
        };
        let split = Linear::new_binary(dir, children, frac);
        self.tree.root = Some(self.tree.tiles.insert_container(Container::Linear(split)));
    }

    /// Show all tiles; `pane_ui` shows a view.
    pub fn ui(&mut self, ui: &mut Ui, pane_ui: impl FnMut(&mut Ui, ViewId)) {
        let theme = Theme::of_ui(ui);
        let mut panes = Panes { pane_ui, theme, closed: None };
        self.tree.ui(&mut panes, ui);
        if let Some(view) = panes.closed {
            self.close(view);
        }
    }
}

/// Views that share a tile when one of them comes back.
fn siblings(view: ViewId) -> &'static [ViewId] {
    match view {
        ViewId::Details | ViewId::Selection | ViewId::Health => {
            &[ViewId::Details, ViewId::Selection, ViewId::Health]
        }
        ViewId::Overview | ViewId::Timeline => &[],
        _ => TABLES,
    }
}

struct Panes<'a, F> {
    pane_ui: F,
    theme: &'a Theme,
    /// The view whose cross was clicked.
    closed: Option<ViewId>,
}

impl<F: FnMut(&mut Ui, ViewId)> Behavior<ViewId> for Panes<'_, F> {
    fn pane_ui(&mut self, ui: &mut Ui, _: TileId, view: &mut ViewId) -> UiResponse {
        let rect = ui.max_rect();
        ui.painter().rect_filled(rect, 0.0, self.theme.color.canvas);
        // Ids come from the view, so that a view keeps its scroll and focus wherever it is moved.
        ui.push_id(*view, |ui| (self.pane_ui)(ui, *view));
        UiResponse::None
    }

    fn tab_title_for_pane(&mut self, view: &ViewId) -> WidgetText {
        view.title().into()
    }

    /// One cross a tile, for the tab in front: a row of crosses would be louder than the titles.
    fn top_bar_right_ui(
        &mut self,
        tiles: &Tiles<ViewId>,
        ui: &mut Ui,
        _: TileId,
        tabs: &egui_tiles::Tabs,
        _: &mut f32,
    ) {
        let Some(view) = tabs.active.and_then(|tile| tiles.get_pane(&tile)) else { return };
        let cross = egui::RichText::new("✕").color(self.theme.color.text_muted).size(self.theme.font.body);
        ui.add_space(self.theme.space.s);
        let response = ui.add(egui::Button::new(cross).frame_when_inactive(false).small());
        let name = format!("Close {}", view.title());
        if response.accessible_name(&name).on_hover_text(name).clicked() {
            self.closed = Some(*view);
        }
    }

    fn tab_bar_height(&self, _: &egui::Style) -> f32 {
        TAB_BAR_PT
    }

    fn gap_width(&self, _: &egui::Style) -> f32 {
        GAP_PT
    }

    fn resize_stroke(&self, style: &egui::Style, state: egui_tiles::ResizeState) -> egui::Stroke {
        let color = match state {
            egui_tiles::ResizeState::Idle => self.theme.color.outline,
            egui_tiles::ResizeState::Hovering | egui_tiles::ResizeState::Dragging => self.theme.color.accent,
        };
        egui::Stroke::new(self.gap_width(style), color)
    }

    fn tab_bar_color(&self, _: &egui::Visuals) -> egui::Color32 {
        self.theme.color.panel
    }

    fn simplification_options(&self) -> SimplificationOptions {
        SimplificationOptions { all_panes_must_have_tabs: true, ..SimplificationOptions::default() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_view_is_open_at_first() {
        let dock = Dock::default();
        for view in ViewId::ALL {
            assert!(dock.is_open(*view), "{view:?}");
        }
    }

    #[test]
    fn a_closed_view_comes_back_beside_its_kind() {
        let mut dock = Dock::default();
        dock.close(ViewId::Copies);
        assert!(!dock.is_open(ViewId::Copies));
        dock.show(ViewId::Copies);
        let tiles = &dock.tree.tiles;
        let parent = |view| tiles.parent_of(tiles.find_pane(&view).unwrap());
        assert_eq!(parent(ViewId::Copies), parent(ViewId::Kernels));
    }

    #[test]
    fn all_views_can_be_closed_and_brought_back() {
        let mut dock = Dock::default();
        for view in ViewId::ALL {
            dock.close(*view);
        }
        for view in ViewId::ALL {
            dock.show(*view);
            assert!(dock.is_open(*view), "{view:?}");
        }
    }
}
