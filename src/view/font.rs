//! Letters for labels: five pixels wide, seven high, drawn here as they look.

/// Width of a letter and the gap behind it.
pub const ADVANCE: usize = 6;

/// Height of a letter.
pub const HEIGHT: usize = 7;

/// The letters there are, and their rows one after the other.
const LETTERS: &str = "\
0 .###. #...# #..## #.#.# ##..# #...# .###.
1 ..#.. .##.. ..#.. ..#.. ..#.. ..#.. .###.
2 .###. #...# ....# ...#. ..#.. .#... #####
3 .###. #...# ....# ..##. ....# #...# .###.
4 ...#. ..##. .#.#. #..#. ##### ...#. ...#.
5 ##### #.... ####. ....# ....# #...# .###.
6 ..##. .#... #.... ####. #...# #...# .###.
7 ##### ....# ...#. ..#.. .#... .#... .#...
8 .###. #...# #...# .###. #...# #...# .###.
9 .###. #...# #...# .#### ....# ...#. .##..
x ..... ..... #...# .#.#. ..#.. .#.#. #...#
y ..... ..... #...# #...# .#### ....# .###.
z ..... ..... ##### ...#. ..#.. .#... #####
= ..... ..... ##### ..... ##### ..... .....
";

/// Whether the pixel in column `x` of row `y`, from the upper left, of a line of text is inked. What
/// has no letter is blank.
pub fn inked(text: &str, x: usize, y: usize) -> bool {
    let (Some(letter), column) = (text.chars().nth(x / ADVANCE), x % ADVANCE) else { return false };
    let rows = LETTERS.lines().find_map(|line| line.strip_prefix(letter));
    let row = rows.and_then(|rows| rows.split_whitespace().nth(y));
    row.is_some_and(|row| row.as_bytes().get(column) == Some(&b'#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_drawn_letter_by_letter() {
        let row =
            |y| (0..3 * ADVANCE).map(|x| if inked("z=4", x, y) { '#' } else { '.' }).collect::<String>();
        assert_eq!(row(2), "#####.#####..#.#..");
        assert_eq!(row(6), "#####..........#..");
        for line in LETTERS.lines() {
            let rows: Vec<_> = line[1..].split_whitespace().collect();
            assert!(rows.len() == HEIGHT && rows.iter().all(|row| row.len() == ADVANCE - 1), "{line}");
        }
    }
}
