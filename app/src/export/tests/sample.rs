//! A UI with one of everything that our views use.

use egui::epaint::{BandPoint, BandShape, CubicBezierShape, EllipseShape, RectShape};
use egui::{
    Align2, Color32, FontId, Mesh, Rect, RichText, Sense, Stroke, StrokeKind, TextEdit, Ui, Vec2, pos2, vec2,
};
use egui_extras::{Column, TableBuilder};
use egui_plot::{Line, PlotPoints};

use crate::theme::Theme;

/// The size at which the sample looks natural, in points.
pub(super) const SIZE_PT: Vec2 = vec2(1280.0, 800.0);

/// Bars, a table, plots, a timeline, text of all kinds and a window on top.
pub(super) fn ui(ui: &mut Ui) {
    let theme = Theme::of_ui(ui);
    egui::Panel::top("bar").frame(theme.panel_frame()).show(ui, |ui| {
        ui.horizontal(|ui| {
            ui.heading("Tracecard");
            ui.separator();
            ui.button("Open…").on_hover_text("never seen");
            let _ = ui.selectable_label(true, "Overview");
            let _ = ui.selectable_label(false, "Timeline");
            ui.add_enabled(false, egui::Button::new("Compare"));
            ui.add(TextEdit::singleline(&mut String::new()).hint_text("Filter kernels").desired_width(160.0));
            let mut checked = true;
            ui.checkbox(&mut checked, "Exact");
            ui.label(RichText::new("⚠ 3 issues").color(theme.color.warning));
            ui.label(RichText::new("✓ complete").color(theme.color.ok));
            ui.label(RichText::new("2 errors").color(theme.color.error));
        });
    });
    egui::Panel::right("details").frame(theme.panel_frame()).default_size(300.0).show(ui, text_ui);
    egui::Panel::bottom("table").frame(theme.canvas_frame()).default_size(240.0).show(ui, table_ui);
    egui::CentralPanel::default().frame(theme.canvas_frame()).show(ui, |ui| {
        timeline_ui(ui);
        plot_ui(ui);
    });
    egui::Window::new("Go to time").default_pos(pos2(560.0, 420.0)).show(ui.ctx(), |ui| {
        ui.label("Type a time such as 1.5 ms");
        ui.horizontal(|ui| {
            let _ = ui.button("Go");
            let _ = ui.button("Cancel");
        });
    });
}

fn text_ui(ui: &mut Ui) {
    let theme = Theme::of_ui(ui);
    ui.label(RichText::new("Selection").font(crate::fonts::semibold(theme.font.heading)));
    ui.label(RichText::new("ampere_sgemm_128x64_tn").monospace());
    ui.label(RichText::new("Muted notes, 1 234.5 µs ± 0.3, Δ −12 % → σ ≤ 4 · β").weak());
    ui.label(RichText::new("Small print with AVATAR To We kerning fi ffi -> 128x128").small());
    ui.label(RichText::new("italic words here").italics());
    ui.label(RichText::new("underlined words").underline());
    ui.label(RichText::new("struck through").strikethrough());
    ui.label(RichText::new("code() -> x").code());
    ui.hyperlink_to("a link", "https://example.invalid/");
    ui.label("A long sentence that has to be wrapped because the panel is only three hundred points wide, with <tags> & \"quotes\".");
    ui.separator();
    ui.collapsing("Launch", |ui| ui.label("inside"));
    ui.add(egui::ProgressBar::new(0.4).text("40 %"));
    ui.add(egui::Slider::new(&mut 3.0, 0.0..=10.0).text("steps"));
    let (rect, _) = ui.allocate_exact_size(vec2(280.0, 150.0), Sense::hover());
    let at = |x: f32, y: f32| rect.min + vec2(x, y);
    let painter = ui.painter_at(rect);
    let line = Stroke::new(1.5, theme.color.accent);
    painter.circle_filled(at(20.0, 20.0), 10.0, theme.color.compute);
    painter.circle_stroke(at(50.0, 20.0), 10.0, line);
    painter.add(EllipseShape::filled(at(90.0, 20.0), vec2(18.0, 8.0), theme.color.copy).with_angle(0.5));
    painter.add(CubicBezierShape::from_points_stroke(
        [at(120.0, 30.0), at(140.0, 0.0), at(160.0, 60.0), at(180.0, 10.0)],
        false,
        Color32::TRANSPARENT,
        line,
    ));
    painter.line_segment([at(190.0, 10.0), at(230.0, 30.0)], line);
    painter.arrow(at(240.0, 30.0), vec2(30.0, -20.0), line);
    painter.rect(
        Rect::from_min_size(at(10.0, 45.0), vec2(60.0, 30.0)),
        6.0,
        theme.color.raised,
        Stroke::new(2.0, theme.color.error),
        StrokeKind::Outside,
    );
    painter.rect(
        Rect::from_min_size(at(90.0, 45.0), vec2(60.0, 30.0)),
        egui::CornerRadius { nw: 10, ne: 0, sw: 0, se: 10 },
        theme.color.raised,
        Stroke::new(1.0, theme.color.ok),
        StrokeKind::Inside,
    );
    painter.add(
        RectShape::filled(Rect::from_min_size(at(180.0, 50.0), vec2(40.0, 20.0)), 0.0, theme.color.host_wait)
            .with_angle(0.3),
    );
    painter.add(BandShape::filled(
        vec![
            BandPoint::new(rect.min.x + 10.0, rect.min.y + 95.0..=rect.min.y + 105.0),
            BandPoint::new(rect.min.x + 60.0, rect.min.y + 85.0..=rect.min.y + 120.0),
            BandPoint::new(rect.min.x + 110.0, rect.min.y + 100.0..=rect.min.y + 102.0),
        ],
        theme.color.communication,
    ));
    painter.text(
        at(150.0, 100.0),
        Align2::CENTER_CENTER,
        "centred",
        FontId::proportional(20.0),
        theme.color.text,
    );
    let galley = painter.layout_no_wrap("turned".to_owned(), FontId::proportional(13.0), theme.color.text);
    painter.add(egui::epaint::TextShape::new(at(220.0, 120.0), galley, theme.color.text).with_angle(-1.0));
    let mut fade = Mesh::default();
    fade.add_colored_rect(Rect::from_min_size(at(10.0, 130.0), vec2(120.0, 12.0)), theme.color.compute);
    for vertex in fade.vertices.iter_mut().filter(|v| at(70.0, 0.0).x < v.pos.x) {
        vertex.color = theme.color.communication;
    }
    painter.add(fade);
}

/// Rows of the table: names of kernels as they come.
const KERNELS: [&str; 6] = [
    "void at::native::vectorized_elementwise_kernel<4, at::native::AddFunctor<float>>(int, T2, T3)",
    "ampere_bf16_s16816gemm_bf16_128x256_ldg8_f2f_stages_64x3_tn",
    "ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
    "flash_fwd_kernel<Flash_fwd_kernel_traits<128, 128, 64, 4>, false, true>",
    "triton_per_fused__to_copy_native_layer_norm_2",
    "Memcpy HtoD (Pinned -> Device)",
];

fn table_ui(ui: &mut Ui) {
    let theme = Theme::of_ui(ui);
    ui.spacing_mut().item_spacing.y = 0.0;
    TableBuilder::new(ui)
        .striped(true)
        .cell_layout(egui::Layout::left_to_right(egui::Align::Center))
        .column(Column::exact(420.0).clip(true))
        .columns(Column::exact(90.0), 5)
        .column(Column::remainder())
        .header(theme.size.header, |mut header| {
            for title in ["Kernel", "Count", "Total ▼", "Mean", "Self", "Share", "Where"] {
                header.col(|ui| {
                    ui.label(RichText::new(title).font(crate::fonts::semibold(theme.font.body)));
                });
            }
        })
        .body(|body| {
            body.rows(theme.size.row, 40, |mut row| {
                let idx = row.index();
                let name = KERNELS[idx % KERNELS.len()];
                row.col(|ui| {
                    ui.add(egui::Label::new(RichText::new(name).monospace()).truncate());
                });
                let cells = [
                    format!("{}", 1234 * idx + 7),
                    format!("{:.3} ms", 91.125 / (idx + 1) as f64),
                    format!("{:.1} µs", 17.6 + idx as f64),
                    format!("{:.1} µs", 11.1 * idx as f64),
                    format!("{:.1} %", 41.0 / (idx + 1) as f64),
                ];
                for cell in cells {
                    row.col(|ui| {
                        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
                            ui.label(cell);
                        });
                    });
                }
                row.col(|ui| {
                    ui.label(RichText::new("stream 7").weak());
                });
            });
        });
}

/// Where the first box of the timeline is, relative to its canvas.
const FIRST_SLICE: Rect = Rect::from_min_max(pos2(40.0, 30.0), pos2(140.25, 47.0));

fn timeline_ui(ui: &mut Ui) {
    let theme = Theme::of_ui(ui);
    let width = ui.available_width();
    let (rect, _) = ui.allocate_exact_size(vec2(width, 200.0), Sense::hover());
    let painter = ui.painter_at(rect);
    for x in (0..12).map(|tick| rect.min.x + 80.0 * tick as f32) {
        painter.vline(x, rect.y_range(), Stroke::new(1.0, theme.color.grid));
        painter.text(
            pos2(x + theme.space.s, rect.min.y + theme.space.xs),
            Align2::LEFT_TOP,
            format!("{} ms", (x - rect.min.x) / 80.0),
            FontId::proportional(theme.font.label),
            theme.color.axis_text,
        );
    }
    for track in 0..8 {
        let top = rect.min.y + FIRST_SLICE.min.y + 20.0 * track as f32;
        let mut mesh = Mesh::default();
        let mut left = rect.min.x + FIRST_SLICE.min.x;
        for idx in 0..200 {
            let name = KERNELS[(idx * (track + 1) + track) % KERNELS.len()];
            let size =
                vec2(if idx == 0 { 100.25 } else { 4.3 + ((idx * 37) % 50) as f32 }, FIRST_SLICE.height());
            let slice = Rect::from_min_size(pos2(left, top), size);
            let fill = theme.color_of_name(name);
            mesh.add_colored_rect(slice, fill);
            left += size.x + if idx % 3 == 0 { 0.0 } else { 3.7 };
        }
        painter.add(mesh);
        let mut left = rect.min.x + FIRST_SLICE.min.x;
        for idx in 0..200 {
            let name = KERNELS[(idx * (track + 1) + track) % KERNELS.len()];
            let width = if idx == 0 { 100.25 } else { 4.3 + ((idx * 37) % 50) as f32 };
            let slice = Rect::from_min_size(pos2(left, top), vec2(width, FIRST_SLICE.height()));
            if 30.0 < width && slice.intersects(rect) {
                painter.with_clip_rect(slice.intersect(rect)).text(
                    slice.left_center() + vec2(theme.space.xs, 0.0),
                    Align2::LEFT_CENTER,
                    name,
                    FontId::proportional(theme.font.label),
                    theme.text_on(theme.color_of_name(name)),
                );
            }
            left += width + if idx % 3 == 0 { 0.0 } else { 3.7 };
        }
    }
}

fn plot_ui(ui: &mut Ui) {
    let theme = Theme::of_ui(ui);
    let wave = |phase: f64| {
        let point = move |idx: i32| {
            let x = f64::from(idx) * 0.05;
            [x, (x + phase).sin() * (1.0 + 0.1 * x)]
        };
        (0..400).map(point).collect::<PlotPoints<'_>>()
    };
    theme.plot("plot").legend(egui_plot::Legend::default()).x_axis_label("time").show(ui, |plot| {
        plot.line(Line::new("SM busy", wave(0.0)).color(theme.category(0)));
        plot.line(Line::new("DRAM", wave(1.0)).color(theme.category(1)));
        plot.bar_chart(egui_plot::BarChart::new(
            "bars",
            (0..10).map(|x| egui_plot::Bar::new(f64::from(x), 0.1 * f64::from(x))).collect(),
        ));
    });
}
