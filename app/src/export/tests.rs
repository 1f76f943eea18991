//! Pictures of a UI with one of everything, checked against what egui itself paints.

mod raster;
mod sample;

use egui::{Align2, Color32, ColorImage, FontId, Mesh, Rect, Sense, Ui, Vec2, pos2, vec2};
use resvg::tiny_skia::Pixmap;

use super::{offscreen, png, png_of, svg};
use crate::theme::{Mode, Theme};

fn decode(png: &[u8]) -> ColorImage {
    let pixmap = Pixmap::decode_png(png).unwrap();
    ColorImage::from_rgba_premultiplied([pixmap.width() as usize, pixmap.height() as usize], pixmap.data())
}

/// Keeps a picture for looking at, when asked to.
fn keep(name: &str, png: &[u8]) {
    if let Some(folder) = std::env::var_os("TRACECARD_KEEP_PICTURES") {
        std::fs::write(std::path::Path::new(&folder).join(name), png).unwrap();
    }
}

fn encode(image: &ColorImage) -> Vec<u8> {
    let mut pixmap = Pixmap::new(image.width() as u32, image.height() as u32).unwrap();
    pixmap.data_mut().copy_from_slice(image.as_raw());
    pixmap.encode_png().unwrap()
}

/// How far two pictures are apart: the mean difference of a channel, and the share of
/// pixels that differ by more than a third of the range after a blur over 3 × 3 pixels.
fn distance(a: &ColorImage, b: &ColorImage) -> (f64, f64) {
    assert_eq!(a.size, b.size);
    let blurred = |image: &ColorImage, x: usize, y: usize| {
        let mut sum = [0_i32; 3];
        for dy in 0..3 {
            for dx in 0..3 {
                let [r, g, b, _] = image[(x + dx, y + dy)].to_array();
                sum = [sum[0] + i32::from(r), sum[1] + i32::from(g), sum[2] + i32::from(b)];
            }
        }
        sum.map(|channel| channel / 9)
    };
    let (mut total, mut n_far, mut n_pixels) = (0.0, 0, 0);
    for y in 0..a.height() - 2 {
        for x in 0..a.width() - 2 {
            let (a, b) = (blurred(a, x, y), blurred(b, x, y));
            let apart = a.iter().zip(&b).map(|(a, b)| a.abs_diff(*b));
            total += f64::from(apart.clone().sum::<u32>()) / 3.0;
            n_far += usize::from(apart.max().unwrap_or(0) > 85);
            n_pixels += 1;
        }
    }
    (total / f64::from(n_pixels), n_far as f64 / f64::from(n_pixels))
}

#[test]
fn a_picture_shows_what_egui_paints() {
    for mode in [Mode::Dark, Mode::Light] {
        for scale in [1.0, 2.0] {
            let theme = Theme::of(mode);
            let frame = offscreen::run(sample::SIZE_PT, scale, theme, sample::ui);
            let png = png_of(&frame).unwrap();
            let window = raster::paint(sample::SIZE_PT, scale, theme, sample::ui);
            keep(&format!("{mode:?}-{scale}-export.png"), &png);
            keep(&format!("{mode:?}-{scale}-window.png"), &encode(&window));
            keep(&format!("{mode:?}-{scale}-export.svg"), svg::write(&frame).as_bytes());
            let (mean, far) = distance(&decode(&png), &window);
            println!("{mode:?} {scale}: mean {mean:.3}, far {:.4} %", far * 100.0);
            assert!(frame.is_settled);
            assert!(mean < 1.5, "{mode:?} {scale}: mean difference {mean}");
            assert!(far < 0.001, "{mode:?} {scale}: far pixels {far}");
        }
    }
}

#[test]
fn the_same_ui_gives_the_same_bytes() {
    let theme = Theme::of(Mode::Dark);
    let picture = || svg::write(&offscreen::run(sample::SIZE_PT, 1.0, theme, sample::ui));
    let (first, second) = (picture(), picture());
    assert!(first == second);
    assert_eq!(png::render(&first, 1.0).unwrap(), png::render(&second, 1.0).unwrap());
}

/// The text of an SVG as a reader finds it.
fn words(svg: &str) -> String {
    let document = resvg::usvg::roxmltree::Document::parse(svg).unwrap();
    let texts = document.descendants().filter(|node| node.has_tag_name("text"));
    texts
        .map(|text| {
            text.descendants().filter_map(|node| node.text().filter(|_| node.is_text())).collect::<String>()
        })
        .collect::<Vec<_>>()
        .join("\n")
}

#[test]
fn text_stays_text() {
    let frame = offscreen::run(sample::SIZE_PT, 1.0, Theme::of(Mode::Light), sample::ui);
    let words = words(&svg::write(&frame));
    for expected in [
        "Tracecard",
        "ampere_sgemm_128x64_tn",
        "Muted notes, 1 234.5 µs ± 0.3, Δ −12 % → σ ≤ 4 · β",
        "A long sentence that has to be wrapped because the panel is only three hundred points wide, with <tags> & \"quotes\".",
        "italic",
        "code() -> x",
        "Memcpy HtoD (Pinned -> Device)",
        "SM busy",
        "turned",
    ] {
        assert!(words.contains(expected), "{expected} is missing in\n{words}");
    }
    assert!(!words.contains("never seen"));
}

#[test]
fn a_picture_has_the_wanted_number_of_pixels() {
    for (size_pt, scale, expected) in [
        (vec2(320.0, 200.0), 1.0, [320, 200]),
        (vec2(320.0, 200.0), 2.0, [640, 400]),
        (vec2(101.0, 33.0), 1.5, [152, 50]),
        (vec2(f32::NAN, -5.0), 1.0, [1, 1]),
    ] {
        let frame = offscreen::run(size_pt, scale, Theme::of(Mode::Dark), |ui| {
            ui.label("x");
        });
        assert_eq!(decode(&png_of(&frame).unwrap()).size, expected);
    }
}

#[test]
fn a_picture_beyond_the_limits_is_an_error_that_says_them() {
    let svg = svg::write(&offscreen::run(vec2(90_000.0, 10.0), 1.0, Theme::of(Mode::Dark), |_| {}));
    let error = png::render(&svg, 1.0).unwrap_err().to_string();
    assert_eq!(
        error,
        "a picture of 90000 × 10 pixels is outside of 1 to 32767 a side and 100 megapixels in all; \
         choose a smaller size or scale"
    );
    assert!(png::render(&svg, f32::NAN).is_err());
    assert!(png::render("no svg", 1.0).unwrap_err().to_string().contains("reading the SVG failed"));
}

/// Boxes at known places, some cut by a clip.
fn boxes_ui(ui: &mut Ui) {
    let (_, painter) = ui.allocate_painter(ui.available_size(), Sense::hover());
    let square = |x: f32, y: f32| Rect::from_min_size(pos2(x, y), vec2(20.0, 20.0));
    painter.rect_filled(square(10.0, 10.0), 0.0, Color32::RED);
    painter.circle_filled(pos2(60.0, 20.0), 10.0, Color32::GREEN);
    let mut mesh = Mesh::default();
    mesh.add_colored_rect(square(90.0, 10.0), Color32::BLUE);
    mesh.add_colored_rect(square(110.0, 10.0), Color32::YELLOW);
    painter.add(mesh);
    let half = painter.with_clip_rect(Rect::from_min_max(pos2(0.0, 0.0), pos2(200.0, 60.0)));
    half.rect_filled(square(10.0, 50.0), 0.0, Color32::RED);
    half.circle_filled(pos2(60.0, 60.0), 10.0, Color32::GREEN);
    painter.hline(0.0..=200.0, 90.0, (1.0, Color32::WHITE));
    painter.text(pos2(100.0, 120.0), Align2::CENTER_CENTER, "█", FontId::monospace(40.0), Color32::WHITE);
}

#[test]
fn colours_are_where_they_belong() {
    let theme = Theme::of(Mode::Dark);
    for scale in [1.0_f32, 2.0] {
        let frame = offscreen::run(vec2(200.0, 150.0), scale, theme, boxes_ui);
        let picture = decode(&png_of(&frame).unwrap());
        let at = |x: f32, y: f32| picture[((x * scale) as usize, (y * scale) as usize)];
        let ground = theme.color.canvas;
        for (x, y, expected) in [
            (1.5, 1.5, ground),
            (10.5, 10.5, Color32::RED),
            (29.5, 29.5, Color32::RED),
            (30.5, 30.5, ground),
            (60.5, 20.5, Color32::GREEN),
            (51.0, 11.0, ground),
            (109.5, 20.5, Color32::BLUE),
            (110.5, 20.5, Color32::YELLOW),
            (20.5, 59.5, Color32::RED),
            (20.5, 60.5, ground),
            (60.5, 59.5, Color32::GREEN),
            (60.5, 60.5, ground),
            // A line of one point: a pixel at 1×, two around its middle at 2×.
            (150.5, 90.1, Color32::WHITE),
            (150.5, 91.1, ground),
            (150.5, 89.1, ground),
            (100.0, 120.0, Color32::WHITE),
        ] {
            assert_eq!(at(x, y), expected, "at {x} {y}, scale {scale}");
        }
    }
}

#[test]
fn an_empty_ui_is_the_bare_ground() {
    let theme = Theme::of(Mode::Light);
    let frame = offscreen::run(vec2(64.0, 48.0), 1.0, theme, |_| {});
    let picture = decode(&png_of(&frame).unwrap());
    assert!(picture.pixels.iter().all(|pixel| *pixel == theme.color.canvas));
    assert_eq!(words(&svg::write(&frame)), "");
}

#[test]
fn odd_text_neither_breaks_the_picture_nor_the_svg() {
    let odd = [
        "a & b < c > d \" e ' f",
        "two\nlines\r\n\tand a tab",
        "bell \u{7} null \0 escape \u{1b}[0m",
        "中文字符 日本語 한국어",
        "emoji 🦀 flag 🇯🇵 joined 👩‍👩‍👧 e\u{301}",
        "עברית العربية",
        "\u{feff}\u{fffe}\u{ffff}\u{200b}\u{ad}",
        "",
        " ",
        "   spaces   around   ",
        "]]> <!-- x --> <![CDATA[",
    ];
    let frame = offscreen::run(vec2(400.0, 900.0), 1.0, Theme::of(Mode::Dark), |ui| {
        for text in odd {
            ui.label(text);
            ui.monospace(text);
            ui.add(egui::Label::new(text.repeat(20)).truncate());
        }
    });
    let svg = svg::write(&frame);
    let words = words(&svg);
    for expected in [odd[0], "two lines", "中文字符 日本語 한국어", "🦀", "]]> <!-- x --> <![CDATA["]
    {
        assert!(words.contains(expected), "{expected} is missing in\n{words}");
    }
    assert!(!words.contains(|c: char| c.is_control() && c != '\n'));
    let png = png::render(&svg, 1.0).unwrap();
    keep("odd.png", &png);
    keep("odd.svg", svg.as_bytes());
    assert_eq!(decode(&png).size, [400, 900]);
}

/// The centres of the ink of each word in some rows of two pictures of black on white; a
/// word ends where three columns of both are blank.
fn word_centers(pictures: [&ColorImage; 2], rows: std::ops::Range<usize>) -> Vec<[(f64, f64); 2]> {
    let mut words = Vec::new();
    // Ink, and ink times place, of the word so far.
    let mut sums = [[0.0_f64; 3]; 2];
    let mut n_blank = 0;
    for x in 0..pictures[0].width() {
        n_blank += 1;
        for (picture, sum) in pictures.iter().zip(&mut sums) {
            for y in rows.clone() {
                let dark = 255.0 - f64::from(picture[(x, y)].g());
                if 20.0 < dark {
                    n_blank = 0;
                    *sum = [sum[0] + dark, sum[1] + dark * x as f64, sum[2] + dark * y as f64];
                }
            }
        }
        if n_blank == 3 && 0.0 < sums[0][0] {
            words.push(sums.map(|[ink, x, y]| (x / ink, y / ink)));
            sums = Default::default();
        }
    }
    words
}

#[test]
fn words_stand_where_egui_puts_them() {
    const SIZE: Vec2 = vec2(400.0, 130.0);
    let theme = Theme::of(Mode::Light);
    let text = |ui: &mut Ui| {
        let black = Color32::BLACK;
        let paint = |y: f32, font: FontId, text: &str| {
            let galley = ui.painter().layout(text.to_owned(), font, black, 300.0);
            ui.painter().galley(pos2(5.0, y), galley, black);
        };
        paint(0.0, FontId::proportional(15.0), "The VAT of 1 234.50 in AVATAR, we To i");
        paint(30.0, FontId::monospace(13.0), "ampere_bf16 s16816gemm a -> b.");
        paint(
            60.0,
            crate::fonts::semibold(13.0),
            "Wrapped text whose second row begins between pixels and ends there",
        );
        ui.painter().text(
            pos2(300.3, 100.0),
            Align2::RIGHT_TOP,
            "moved to the right",
            FontId::proportional(12.5),
            black,
        );
    };
    let exported = decode(&png_of(&offscreen::run(SIZE, 1.0, theme, text)).unwrap());
    let window = raster::paint(SIZE, 1.0, theme, text);
    for rows in [0..28, 30..55, 60..75, 76..95, 100..125] {
        let words = word_centers([&exported, &window], rows.clone());
        assert!(3 <= words.len(), "rows {rows:?}");
        for [(x, y), (window_x, window_y)] in words {
            assert!((x - window_x).abs() < 0.5, "{x} is not {window_x} in rows {rows:?}");
            assert!((y - window_y).abs() < 0.5, "{y} is not {window_y} in rows {rows:?}");
        }
    }
}

#[test]
fn a_ui_that_never_stands_still_is_taken_as_it_is() {
    let mut n_calls = 0;
    let frame = offscreen::run(vec2(100.0, 50.0), 1.0, Theme::of(Mode::Dark), |ui| {
        n_calls += 1;
        ui.label(format!("call {n_calls}"));
        ui.ctx().request_repaint();
    });
    assert!(!frame.is_settled);
    assert!(words(&svg::write(&frame)).starts_with("call "));
    assert!(n_calls < 20, "{n_calls} calls");
}
