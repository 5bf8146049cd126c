//! Lines of bytes, cut from a stream so that no character is ever split. Of a line that is too long, only its ends are kept.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt as _};

use super::message::GLIMPSE;

/// What was between two line breaks.
#[derive(Debug, PartialEq)]
pub(super) enum Line {
    Whole(Vec<u8>),
    /// The last one, without a line break.
    Unended(Vec<u8>),
    /// One that is over the limit, and goes on.
    Long {
        head: Vec<u8>,
    },
    /// The same one, at its end.
    TooLong {
        head: Vec<u8>,
        tail: Vec<u8>,
    },
}

/// Cuts a stream into lines of bytes, so that no character is ever split.
pub(super) struct Lines<R> {
    stream: R,
    buffer: Vec<u8>,
    /// Up to here there is no line break.
    scanned: usize,
    /// The first and the last bytes so far of a line that is too long.
    long: Option<(Vec<u8>, Vec<u8>)>,
    most: usize,
    ended: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    /// Cuts `stream`. A line of more than `most` bytes is too long.
    pub(super) fn new(stream: R, most: usize) -> Self {
        Self { stream, buffer: Vec::new(), scanned: 0, long: None, most, ended: false }
    }

    /// Returns the next line, none at the end. May be dropped at any time without losing anything.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line>> {
        const CHUNK: usize = 16 << 10;
        loop {
            if let Some(at) = self.buffer[self.scanned..].iter().position(|byte| *byte == b'\n') {
                let mut line: Vec<u8> = self.buffer.drain(..=self.scanned + at).collect();
                line.pop();
                return Ok(Some(self.finish(line)));
            }
            self.scanned = self.buffer.len();
            if self.buffer.len() > self.most {
                let part = std::mem::take(&mut self.buffer);
                let is_news = self.long.is_none();
                self.lengthen(&part);
                if let Some((head, _)) = self.long.as_ref().filter(|_| is_news) {
                    return Ok(Some(Line::Long { head: head.clone() }));
                }
            }
            if self.ended {
                let rest = std::mem::take(&mut self.buffer);
                self.scanned = 0;
                let is_over = rest.is_empty() || self.long.take().is_some();
                return Ok((!is_over).then_some(Line::Unended(rest)));
            }
            self.buffer.reserve(CHUNK);
            self.ended = self.stream.read_buf(&mut self.buffer).await? == 0;
        }
    }

    fn finish(&mut self, line: Vec<u8>) -> Line {
        self.scanned = 0;
        if self.long.is_some() {
            self.lengthen(&line);
        }
        match self.long.take() {
            Some((head, tail)) => Line::TooLong { head, tail },
            None => Line::Whole(line),
        }
    }

    fn lengthen(&mut self, part: &[u8]) {
        self.scanned = 0;
        let (_, tail) = self.long.get_or_insert_with(|| (part[..part.len().min(GLIMPSE)].to_vec(), Vec::new()));
        tail.extend_from_slice(&part[part.len().saturating_sub(GLIMPSE)..]);
        tail.drain(..tail.len().saturating_sub(GLIMPSE));
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt as _;

    use super::*;

    async fn lines(chunks: &[&[u8]], most: usize) -> Vec<Line> {
        let (mut writer, reader) = tokio::io::duplex(3);
        let chunks: Vec<Vec<u8>> = chunks.iter().map(|chunk| chunk.to_vec()).collect();
        let writing = tokio::spawn(async move {
            for chunk in chunks {
                writer.write_all(&chunk).await.unwrap();
            }
        });
        let mut lines = Lines::new(reader, most);
        let mut all = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            all.push(line);
        }
        writing.await.unwrap();
        all
    }

    #[tokio::test]
    async fn lines_are_whole_however_they_arrive() {
        let whole = |text: &str| Line::Whole(text.as_bytes().to_vec());
        assert_eq!(
            lines(&[b"a\n\n", b"\xe6", b"\x97\xa5\r\nrest"], 100).await,
            [whole("a"), whole(""), whole("\u{65e5}\r"), Line::Unended(b"rest".to_vec())]
        );
        assert_eq!(lines(&[], 100).await, []);
    }

    #[tokio::test]
    async fn of_a_line_that_is_too_long_both_ends_are_kept_and_the_next_line_is_whole() {
        let long = [b"x".repeat(3000), b"y".repeat(3000)].concat();
        let got = lines(&[&long, b"\nnext\n", &long], 100).await;
        let Line::Long { head } = &got[0] else { panic!("{got:?}") };
        assert!(head.iter().all(|byte| *byte == b'x') && head.len() >= 100);
        assert_eq!(got[1], Line::TooLong { head: head.clone(), tail: b"y".repeat(GLIMPSE) });
        assert_eq!(got[2], Line::Whole(b"next".to_vec()));
        // Of the last one nobody knows the end.
        assert_eq!(got[3..], [Line::Long { head: head.clone() }]);
    }
}
