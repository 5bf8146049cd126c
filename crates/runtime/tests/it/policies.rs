//! What becomes of a call that was out at a crash: by the policy when it was asked for, and by today's.

use std::{sync::Arc, time::Duration};

use refrain_journal::{Journal as _, MemoryJournal};
use refrain_runtime::{Clock, Durability, Origin, Replay, ReportStatus, RunRequest, Runtime, SystemClock, Take, Tool};
use serde_json::json;

use crate::{
    fake::{Answer, Fake},
    host::{notes, value},
    snapshots::{Process, killed, process_with},
};

fn get(replay: Replay, answer: Answer) -> Fake {
    let mut tool = Tool::new("", "get");
    tool.replay = replay;
    Fake::of(tool, [(answer, Duration::ZERO)])
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
        Fake::of(tool, [(answer, Duration::ZERO)])
    };
    let first = process_with(&journal, vec![put(Answer::Hang)], |_| {});
    let script = "try { return await tools.fake.put({}) } catch (e) { return e.code }";
    let (id, journal) = killed(&journal, first, script, "put", 1).await;
    let second = process_with(&journal, vec![put(Answer::Echo)], |_| {});
    let report = second.runtime.resume(id, Take::IfFree).await.unwrap();
    assert_eq!(value(&report), Some(json!("interrupted")));
    assert!(notes(&report, "tool")[0].message.contains("`fake.look`"), "{:?}", report.notes);
}

/// What looks must not be able to do what it looks for.
#[tokio::test]
async fn a_probe_that_may_not_be_repeated_or_is_the_tool_itself_is_never_called() {
    for (named, safe) in [("fake.look", false), ("fake.put", false), ("fake.put", true)] {
        let journal = MemoryJournal::new();
        let tools = |answer| {
            let mut put = Tool::new("", "put");
            put.reconcile = Some(named.into());
            put.replay = if safe { Replay::Keyed } else { Replay::Unsafe };
            vec![Fake::of(put, [(answer, Duration::ZERO)]), Fake::new("look", done())]
        };
        let first = process_with(&journal, tools(Answer::Hang), |_| {});
        let script = "try { return await tools.fake.put({ n: 1 }) } catch (e) { return e.code }";
        let (id, journal) = killed(&journal, first, script, "put", 1).await;
        let second = process_with(&journal, tools(Answer::Echo), |_| {});
        let report = second.runtime.resume(id, Take::IfFree).await.unwrap();
        // A keyed call is repeated by itself, with its key, and nobody is asked.
        assert_eq!(value(&report), Some(if safe { json!({ "n": 1 }) } else { json!("interrupted") }), "{named}");
        let seen = second.seen.lock().unwrap();
        assert_eq!((seen.count("look"), seen.count("put")), (0, usize::from(safe)), "{named}");
        if !safe {
            assert!(notes(&report, "tool")[0].message.contains("has no effect"), "{:?}", report.notes);
        }
    }
}

fn done() -> Answer {
    Answer::Value(json!({ "status": "done", "result": 7 }))
}

/// The crash table's rows on power: eighteen reads, a cut while one is out.
#[tokio::test]
async fn a_power_cut_repeats_only_reads_and_with_durability_power_only_the_one_in_flight() {
    let script = "let s = 0; for (let n = 1; n <= 18; n++) { s += (await tools.fake.get({ n })).n; if (n === 9) await tools.fake.hangs({}) } return s";
    for (durability, most_again) in [(Durability::Power, 0), (Durability::Effects, 9), (Durability::Process, 9)] {
        let disk = MemoryJournal::on_a_disk();
        let tools = || vec![Fake::echo("get").safe(), Fake::hang("hangs").safe()];
        let first = process_with(&disk, tools(), |settings| settings.durability = durability);
        // The run itself is flushed with its first decisive commit, or never: nothing is lost by starting anew.
        let (id, _) = killed(&disk, first, script, "hangs", 1).await;
        let left = disk.lose_power();
        if left.read(id).await.is_err() {
            assert_ne!(durability, Durability::Power);
            continue;
        }
        let done = vec![Fake::echo("get").safe(), Fake::echo("hangs").safe()];
        let second = process_with(&left, done, |settings| settings.durability = durability);
        let report = second.runtime.resume(id, Take::IfFree).await.unwrap();
        assert_eq!(value(&report), Some(json!(171)));
        assert!(second.seen.lock().unwrap().count("get") <= 9 + most_again, "{durability:?}");
    }
}

#[tokio::test]
async fn after_a_write_left_a_power_cut_repeats_reads_since_then_and_never_the_write() {
    let script = "for (let n = 1; n <= 5; n++) await tools.fake.get({ n });
        const put = await tools.fake.put({ n: 1 }).catch((e) => e.code);
        for (let n = 6; n <= 9; n++) await tools.fake.get({ n });
        await tools.fake.hangs({}); return put.n ?? put";
    // The power goes while the write is out, and after its answer.
    for (put, hung, expected, again) in
        [(Fake::hang("put"), "put", json!("interrupted"), 4), (Fake::echo("put"), "hangs", json!(1), 4)]
    {
        let disk = MemoryJournal::on_a_disk();
        let first = process_with(&disk, vec![Fake::echo("get").safe(), put, Fake::hang("hangs").safe()], |_| {});
        let (id, _) = killed(&disk, first, script, hung, 1).await;
        let left = disk.lose_power();
        let tools = vec![Fake::echo("get").safe(), Fake::echo("put"), Fake::echo("hangs").safe()];
        let second = process_with(&left, tools, |_| {});
        let report = second.runtime.resume(id, Take::IfFree).await.unwrap();
        assert_eq!(value(&report), Some(expected), "{hung}");
        assert_eq!(second.seen.lock().unwrap().count("put"), 0, "{hung}: never a second write");
        assert_eq!(second.seen.lock().unwrap().count("get"), again, "{hung}: the reads since");
    }
}

#[tokio::test]
async fn the_clock_of_a_script_does_not_go_back_where_that_of_the_machine_does() {
    let journal = MemoryJournal::new();
    let script = "await tools.fake.get({}); const before = Date.now(); await tools.fake.hangs({}); await tools.fake.get({}); return Date.now() - before";
    let tools = |hangs| vec![Fake::echo("get").safe(), hangs];
    let mut first = process_with(&journal, tools(Fake::hang("hangs").safe()), |_| {});
    first.runtime = at(&first, &journal, 1_700_003_600_000);
    let (id, journal) = killed(&journal, first, script, "hangs", 1).await;
    let second = process_with(&journal, tools(Fake::echo("hangs").safe()), |_| {});
    let report = at(&second, &journal, 1_700_000_000_000).resume(id, Take::IfFree).await.unwrap();
    assert_eq!(value(&report), Some(json!(0)));
}

#[tokio::test]
async fn the_next_process_wakes_what_the_one_before_put_down_however_late_it_is() {
    let journal = MemoryJournal::new();
    let first = process_with(&journal, vec![], |settings| settings.park_after = Duration::from_millis(200));
    let origin = Origin { way: "mcp".into(), ..Origin::default() };
    let script = "const before = Date.now(); await sleep(60_000); return Date.now() - before";
    let parked = first.runtime.run(RunRequest::new(script, origin), &|_| {}).await.unwrap();
    assert_eq!(parked.status, ReportStatus::Parked);
    drop(first);
    let second = process_with(&journal, vec![], |_| {});
    // A day later: it is overdue, and fires at once.
    let a_day_later = 1_700_000_000_000 + 24 * 60 * 60 * 1000;
    let runtime = Arc::new(at(&second, &journal, a_day_later));
    let (said, mut heard) = tokio::sync::mpsc::unbounded_channel();
    let tending = tokio::spawn(runtime.tend("mcp", move |tended| said.send(tended).unwrap()));
    let (run, report) = heard.recv().await.unwrap();
    assert_eq!((Some(run), value(&report.unwrap())), (parked.run_id, Some(json!(24 * 60 * 60 * 1000))));
    tending.abort();
}

/// The same process at another time.
pub(crate) fn at(process: &Process, journal: &MemoryJournal, ms: i64) -> Runtime {
    struct At(i64);
    impl Clock for At {
        fn now_ms(&self) -> i64 {
            self.0
        }

        fn instant(&self) -> std::time::Instant {
            SystemClock.instant()
        }
    }
    Runtime::with_journal(process.runtime.settings().clone(), Arc::new(journal.clone()), Arc::new(At(ms)))
}
