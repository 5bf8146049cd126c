//! What a script says beside its result: texts, logs, images, progress.

use serde_json::{Value, json};

use crate::{
    globals::{host, refused, values},
    host::{notes, value},
};

#[tokio::test]
async fn text_and_logs_are_kept_apart() {
    let report = host()
        .run(
            "text('found', 2, { a: [1n] }, undefined, null); text(); text('last');
             console.log('x', new Map([['k', 1]])); console.warn('careful'); console.error(new RangeError('bad'));
             console.debug(Symbol('s')); console.info(); console.table([1]); console.assert(true, 'no');",
        )
        .await;
    assert_eq!(report.error, None);
    assert_eq!(report.text, "found 2 {\"a\":[\"1\"]} undefined null\n\nlast");
    let logs: Vec<String> = report
        .logs
        .iter()
        .map(|log| format!("{}: {}", log.level, log.text.lines().next().unwrap_or_default()))
        .collect();
    assert_eq!(
        logs,
        ["log: x {\"k\":1}", "warn: careful", "error: RangeError: bad", "debug: Symbol(s)", "info: ", "log: [1]"]
    );
}

/// It says what would have gone unseen.
#[tokio::test]
async fn an_assertion_that_does_not_hold_is_logged() {
    let report = host().run("console.assert(1 > 2, 'the world is odd'); return 1").await;
    assert!(report.logs.len() == 1 && report.logs[0].text.contains("the world is odd"), "{:?}", report.logs);
}

#[tokio::test]
async fn images_are_blocks_or_data_urls() {
    let report = host()
        .run("image({ type: 'image', mimeType: 'image/png', data: 'iVBORw0=' , annotations: {} }); image('data:image/gif;base64,R0lGODlh'); return 1")
        .await;
    let images: Vec<Value> = report.images.iter().map(|image| image.parse().unwrap()).collect();
    assert_eq!(
        images,
        [
            json!({ "type": "image", "mimeType": "image/png", "data": "iVBORw0=" }),
            json!({ "type": "image", "mimeType": "image/gif", "data": "R0lGODlh" }),
        ]
    );
    refused(&[
        ("image()", "TypeError", &["image takes an MCP image block"]),
        ("image('https://a.example/x.png')", "TypeError", &["data:"]),
        ("image('data:text/plain;base64,aGk=')", "TypeError", &["image/png"]),
        ("image('data:image/png,raw')", "TypeError", &["base64"]),
        ("image({ type: 'image', data: 5, mimeType: 'image/png' })", "TypeError", &["mimeType"]),
        ("image({ type: 'text', text: 'no' })", "TypeError", &["image takes an MCP image block"]),
        ("image({ type: 'image', data: 'aGk=', mimeType: 'text/html' })", "TypeError", &["image/"]),
        ("image('data:image/png;base64,<script>')", "TypeError", &["base64"]),
    ])
    .await;
}

/// A screenshot is larger than all logs of most runs; the limit of those is not its limit.
#[tokio::test]
async fn an_image_of_the_usual_size_is_kept() {
    let report = host()
        .run("image({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(2_000_000) }); text('after'); return 1")
        .await;
    assert_eq!((report.images.len(), report.text.as_str()), (1, "after"), "{:?} {:?}", report.error, report.notes);
}

/// Whatever becomes of it, the script goes on: looking at a picture must not cost more memory than having it.
#[tokio::test]
async fn a_large_image_does_not_fill_the_memory() {
    let report =
        host().run("image({ type: 'image', mimeType: 'image/png', data: 'A'.repeat(12_000_000) }); return 1").await;
    assert_eq!(value(&report), Some(json!(1)), "{:?}", report.error);
    assert!(report.images.len() == 1 || notes(&report, "output_cut").len() == 1, "{:?}", report.notes);
}

#[tokio::test]
async fn progress_is_told_and_changes_nothing() {
    values(&[
        ("[progress(0.4, 'page 4 of 10'), progress(1), progress('half'), progress(), progress(-1, {}), progress(NaN), 7].at(-1)", json!(7)),
    ])
    .await;
}
