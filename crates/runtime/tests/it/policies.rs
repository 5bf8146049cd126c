//! What becomes of a call that was out at a crash: by the policy when it was asked for, and by today's.

use refrain_journal::MemoryJournal;
use refrain_runtime::{Replay, Take, Tool};
use serde_json::json;

use crate::{
    fake::{Answer, Fake},
    host::{notes, value},
    snapshots::{killed, process_with},
};

fn get(replay: Replay, answer: Answer) -> Fake {
    let mut tool = Tool::new("", "get");
    tool.replay = replay;
    Fake::of(tool, [(answer, std::time::Duration::ZERO)])
}

#[tokio::test]
async fn a_call_is_repeated_only_where_both_the_policy_of_then_and_that_of_now_allow_it() {
    use Replay::{Keyed, Safe, Unsafe};
    let script = "try { return (await tools.fake.get({ n: 1 })).n } catch (e) { return e.code }";
    for (then, now, expected) in [
        (Safe, Safe, json!(1)),
        (Keyed, Keyed, json!(1)),
        (Unsafe, Unsafe, json!("interrupted")),
        (Safe, Unsafe, json!("interrupted")),
        (Unsafe, Safe, json!("interrupted")),
        (Keyed, Safe, json!("interrupted")),
        (Keyed, Unsafe, json!("interrupted")),
    ] {
        let journal = MemoryJournal::new();
        // The second call is asked for with a record, so that the first is in the journal as well.
        let script = script.replace(
            "(await tools.fake.get({ n: 1 })).n",
            "(await Promise.all([tools.fake.get({ n: 1 }), tools.fake.put({}).catch(() => 0)]))[0].n",
        );
        let first = process_with(&journal, vec![get(then, Answer::Hang), Fake::hang("put")], |_| {});
        let (id, journal) = killed(&journal, first, &script, "put", 1).await;
        let second = process_with(&journal, vec![get(now, Answer::Echo), Fake::hang("put")], |_| {});
        let report = second.runtime.resume(id, Take::IfFree).await.unwrap();
        assert_eq!(value(&report), Some(expected.clone()), "{then:?} {now:?}");
        let times = usize::from(expected == json!(1));
        assert_eq!(second.seen.lock().unwrap().count("get"), times, "{then:?} {now:?}");
    }
}

#[tokio::test]
async fn a_probe_that_is_not_there_leaves_the_outcome_unknown_and_says_so() {
    let journal = MemoryJournal::new();
    let put = |answer| {
        let mut tool = Tool::new("", "put");
        tool.reconcile = Some("fake.look".into());
        Fake::of(tool, [(answer, std::time::Duration::ZERO)])
    };
    let first = process_with(&journal, vec![put(Answer::Hang)], |_| {});
    let script = "try { return await tools.fake.put({}) } catch (e) { return e.code }";
    let (id, journal) = killed(&journal, first, script, "put", 1).await;
    let second = process_with(&journal, vec![put(Answer::Echo)], |_| {});
    let report = second.runtime.resume(id, Take::IfFree).await.unwrap();
    assert_eq!(value(&report), Some(json!("interrupted")));
    assert!(notes(&report, "tool")[0].message.contains("`fake.look`"), "{:?}", report.notes);
}
