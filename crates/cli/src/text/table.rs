//! Columns, aligned with spaces.

/// No column is wider for the sake of one cell.
const WIDEST: usize = 60;

/// Returns rows as lines. The last column is as wide as it is, and a cell that is wider than [`WIDEST`] moves only its own row.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(move |row| row.get(column)).map(|cell| cell.chars().count());
    let widths: Vec<usize> =
        (0..columns).map(|column| width(column).filter(|width| *width <= WIDEST).max().unwrap_or(0)).collect();
    let mut text = String::new();
    for row in rows {
        let cells: Vec<String> = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_stand_under_each_other_whatever_the_letters() {
        let rows = [["é", "b", "c"], ["aaa", "", "d"], ["x", "yy", ""]].map(|row| row.map(str::to_owned).to_vec());
        insta::assert_snapshot!(aligned(&rows), @"
        é    b   c
        aaa      d
        x    yy
        ");
    }

    #[test]
    fn a_long_cell_moves_its_own_row_alone() {
        let long = "x".repeat(61);
        let rows = [["a", "b"], [&long, "c"], ["dd", "e"]].map(|row| row.map(str::to_owned).to_vec());
        assert_eq!(aligned(&rows), format!("a   b\n{long}  c\ndd  e\n"));
    }
}
