//! How wide a text will be, without an egui context, so that layouts can be tested as text.

/// Advances of one font at one size: exact for ASCII, one width for everything else.
#[derive(Clone, Debug, PartialEq)]
pub struct TextWidth {
    ascii_pt: [f32; 128],
    other_pt: f32,
}

impl TextWidth {
    /// From a function that gives the advance of a sign in points.
    pub fn from_advances(mut advance_pt: impl FnMut(char) -> f32) -> Self {
        let mut ascii_pt = [0.0; 128];
        for (code, width_pt) in (0_u8..).zip(ascii_pt.iter_mut()) {
            *width_pt = advance_pt(char::from(code));
        }
        // An ideograph is the widest that is common in names; too much room is better than overlap.
        let other_pt = advance_pt('漢').max(advance_pt('…'));
        Self { ascii_pt, other_pt }
    }

    /// All signs equally wide.
    pub fn monospaced(advance_pt: f32) -> Self {
        Self { ascii_pt: [advance_pt; 128], other_pt: advance_pt }
    }

    /// Width of one sign.
    pub fn of_char(&self, sign: char) -> f32 {
        self.ascii_pt.get(sign as usize).copied().unwrap_or(self.other_pt)
    }

    /// Width of a text.
    pub fn of(&self, text: &str) -> f32 {
        text.chars().map(|sign| self.of_char(sign)).sum()
    }
}
