// harm: yields for ever; expect: stopped asked|stopped memory|stopped limit
async function* g() { for (;;) yield 1 }
for await (const x of g());;
return "over";
