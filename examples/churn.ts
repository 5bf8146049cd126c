// Which files change most, which change together, and who changes them?
// Looks at the newest 200 commits, or at as many as `--arg commits=N` says.

interface Commit { sha: string; author: string; email: string; date: string; subject: string }
interface Change { path: string; added: number | null; deleted: number | null }
interface File { path: string; changes: number; added: number; deleted: number; by: Map<string, number> }

const TOP = 10;
const newest = Math.min(Number(args?.commits ?? 200), 900);

// Most first; names decide between equals, so that the answer is always the same.
const most = <T>(rows: T[], count: (row: T) => number, name: (row: T) => string): T[] =>
  rows.sort((x, y) => count(y) - count(x) || (name(x) < name(y) ? -1 : 1)).slice(0, TOP);

const bump = (counts: Map<string, number>, key: string, by = 1) => counts.set(key, (counts.get(key) ?? 0) + by);

const commits: Commit[] = [];
while (commits.length < newest) {
  const limit = Math.min(100, newest - commits.length);
  const page: Commit[] = await tools.demo.list_commits({ limit, offset: commits.length });
  commits.push(...page);
  if (page.length < limit) break;
}

const [changes, everyone] = await Promise.all([
  Promise.all(commits.map((commit): Promise<Change[]> => tools.demo.commit_files({ sha: commit.sha }))),
  tools.demo.list_authors({}),
]);

const files = new Map<string, File>();
const together = new Map<string, number>();
const touched = new Map<string, Set<string>>();

commits.forEach((commit, i) => {
  const paths = changes[i].map((change) => change.path).sort();
  for (const { path, added, deleted } of changes[i]) {
    const file = files.get(path) ?? { path, changes: 0, added: 0, deleted: 0, by: new Map() };
    files.set(path, file);
    file.changes += 1;
    file.added += added ?? 0;
    file.deleted += deleted ?? 0;
    bump(file.by, commit.author);
    touched.set(commit.author, (touched.get(commit.author) ?? new Set()).add(path));
  }
  // A commit that touches everything says nothing about what belongs together.
  if (paths.length > 50) return;
  paths.forEach((a, n) => paths.slice(n + 1).forEach((b) => bump(together, JSON.stringify([a, b]))));
});

const pairs = [...together]
  .filter(([, times]) => times > 1)
  .map(([key, times]) => ({ a: JSON.parse(key)[0] as string, b: JSON.parse(key)[1] as string, times }));

const authored = new Map<string, number>();
for (const { name, commits } of everyone) bump(authored, name, commits);
const authors = [...authored].map(([name, commits]) => ({ name, commits, files: touched.get(name)?.size ?? 0 }));

return {
  commits: commits.length,
  files: most([...files.values()], (file) => file.changes, (file) => file.path).map(({ by, ...file }) => ({
    ...file,
    top_author: most([...by], ([, times]) => times, ([name]) => name)[0][0],
  })),
  together: most(pairs, (pair) => pair.times, (pair) => `${pair.a}\0${pair.b}`),
  authors: most(authors, (author) => author.commits, (author) => author.name),
};
