//! Columns, aligned with spaces.

/// Returns rows as lines. The last column is as wide as it is.
pub(crate) fn aligned(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
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
}
