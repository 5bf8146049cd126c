//! Pictures and sounds, which a model sees as blocks of their own and never as base64 in a text.
//!
//! They come from `image()`, and from a script that returned a block as a tool gave it. Each leaves its place in the report
//! with a word where it is: the answer's blocks are its text and then these, in order.

use refrain_runtime::{Json, Report};
use rmcp::model::ContentBlock;
use serde_json::{Value, json};

/// More blocks than this in one answer are left out.
const MOST: usize = 20;

/// Takes the blocks out of a report.
pub(crate) fn take(report: &mut Report) -> Vec<ContentBlock> {
    let mut taken = Taken::default();
    for image in &mut report.images {
        let Ok(mut block) = serde_json::from_str::<Value>(image.as_str()) else { continue };
        if taken.take(&mut block) {
            *image = Json::from_value(&block);
        }
    }
    if let Some(result) = &mut report.result
        // Most results hold none, and need not be read for it.
        && result.as_str().contains("\"data\"")
        && let Ok(mut value) = serde_json::from_str::<Value>(result.as_str())
        && taken.take_all(&mut value)
    {
        *result = Json::from_value(&value);
    }
    taken.blocks
}

#[derive(Default)]
struct Taken {
    blocks: Vec<ContentBlock>,
    seen: usize,
}

impl Taken {
    /// Takes every block in a value. Returns whether there was one.
    fn take_all(&mut self, value: &mut Value) -> bool {
        if self.take(value) {
            return true;
        }
        // Each is looked at, so no `any`.
        let mut found = false;
        match value {
            Value::Array(items) => items.iter_mut().for_each(|item| found |= self.take_all(item)),
            Value::Object(members) => members.values_mut().for_each(|member| found |= self.take_all(member)),
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        found
    }

    /// Takes a block, if that is what the value is, and leaves a word in place of its data.
    fn take(&mut self, value: &mut Value) -> bool {
        let text = |key: &str| value.get(key).and_then(Value::as_str);
        let (Some(kind @ ("image" | "audio")), Some(mime), Some(data)) = (text("type"), text("mimeType"), text("data"))
        else {
            return false;
        };
        if data.is_empty() || !mime.starts_with(kind) || !data.bytes().all(is_base64) {
            return false;
        }
        self.seen += 1;
        let left = if self.seen <= MOST {
            self.blocks.push(match kind {
                "image" => ContentBlock::image(data, mime),
                _ => ContentBlock::audio(data, mime),
            });
            format!("[block {} after this text; {} bytes of base64]", self.seen, data.len())
        } else {
            format!("[left out: an answer holds {MOST} blocks]")
        };
        value["data"] = json!(left);
        true
    }
}

fn is_base64(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'=')
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::render::tests::report;

    fn picture(data: &str) -> Value {
        json!({"type": "image", "mimeType": "image/png", "data": data})
    }

    #[test]
    fn pictures_leave_the_report_for_blocks_of_their_own() {
        let sound = json!({"type": "audio", "mimeType": "audio/wav", "data": "UklGRg=="});
        let result = json!([{"type": "text", "text": "1 image"}, picture("iVBORw0KGgo="), {"deep": [sound]}]);
        let mut all = report(json!({"images": [picture("R0lGODlh")], "result": result}));
        let blocks = take(&mut all);
        let kinds: Vec<String> = blocks.iter().map(|block| serde_json::to_string(block).unwrap()).collect();
        assert_eq!(kinds.len(), 3);
        for (kind, data) in kinds.iter().zip(["R0lGODlh", "iVBORw0KGgo=", "UklGRg=="]) {
            assert!(kind.contains(data), "{kind}");
        }
        insta::assert_snapshot!(all.result.unwrap(), @r#"[{"type":"text","text":"1 image"},{"type":"image","mimeType":"image/png","data":"[block 2 after this text; 12 bytes of base64]"},{"deep":[{"type":"audio","mimeType":"audio/wav","data":"[block 3 after this text; 8 bytes of base64]"}]}]"#);
        insta::assert_snapshot!(all.images[0], @r#"{"type":"image","mimeType":"image/png","data":"[block 1 after this text; 8 bytes of base64]"}"#);
    }

    #[test]
    fn what_only_looks_like_a_picture_stays() {
        for value in [
            json!({"type": "image", "mimeType": "text/html", "data": "AAAA"}),
            json!({"type": "image", "mimeType": "image/png", "data": ""}),
            json!({"type": "image", "mimeType": "image/png", "data": "not base64!"}),
            json!({"type": "text", "mimeType": "image/png", "data": "AAAA"}),
            json!({"data": {"data": [1]}}),
        ] {
            let mut one = report(json!({ "result": value }));
            assert!(take(&mut one).is_empty(), "{value}");
            assert_eq!(one.result.unwrap().as_str(), value.to_string());
        }
    }

    #[test]
    fn more_pictures_than_an_answer_holds_are_left_out_and_told() {
        let many: Vec<Value> = (0..MOST + 1).map(|_| picture("AAAA")).collect();
        let mut one = report(json!({ "result": many }));
        assert_eq!(take(&mut one).len(), MOST);
        assert!(one.result.unwrap().as_str().contains("left out: an answer holds 20 blocks"));
    }
}
