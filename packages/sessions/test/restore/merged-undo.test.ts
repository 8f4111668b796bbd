import { sha256 } from "@gennai/machine/workspace/files/content-digest";
import type { PathChange } from "@gennai/store/checkpoints/file-state";
import fc from "fast-check";
import { expect, test } from "vitest";
import { FileContents } from "#restore/file-contents";
import { planRestore } from "#restore/restore-plan";
import { writeRestore } from "#restore/write-restore";

/** Files in memory that an agent and a user change, and what is kept of the agent's changes. */
class Files {
  readonly #now = new Map<string, string>();
  readonly #blobs = new Map<string, Uint8Array>();
  readonly #changes: PathChange[] = [];

  constructor(files: Readonly<Record<string, string>>) {
    for (const [path, text] of Object.entries(files)) this.#now.set(path, text);
  }

  text(path: string): string {
    return this.#now.get(path) ?? "";
  }

  byUser(path: string, text: string): void {
    this.#now.set(path, text);
  }

  byAgent(path: string, text: string): void {
    const [before, after] = [this.text(path), text].map((one) => this.#kept(one));
    if (before !== undefined && after !== undefined) this.#changes.push({ path, before, after });
    this.#now.set(path, text);
  }

  /** @returns paths of the files that stay as they are */
  async undo(): Promise<readonly string[]> {
    const get = async (digest: string) => this.#blobs.get(digest);
    const contents = new FileContents({ get }, { contents: async () => new Map() });
    const files = {
      at: async (path: string) => ({ type: "file", sha256: sha256(Buffer.from(this.text(path))) }) as const,
      bytes: async (path: string) => Buffer.from(this.text(path)),
    };
    const { restores, skipped } = await planRestore(this.#changes, contents, { files, paths: [], force: false });
    await writeRestore(restores, contents, {
      root: "/",
      announce: async () => undefined,
      apply: async (changes) => {
        for (const change of changes) {
          if (change.operation !== "update") throw new Error(`There is a change of type ${change.operation}.`);
          const { relative } = change.path;
          if (change.baseSha256 !== sha256(Buffer.from(this.text(relative)))) throw new Error("It would overwrite.");
          this.#now.set(relative, Buffer.from(change.bytes).toString());
        }
      },
    });
    return skipped.map(({ path }) => path);
  }

  #kept(text: string) {
    const bytes = Buffer.from(text);
    this.#blobs.set(sha256(bytes), bytes);
    return { type: "file", sha256: sha256(bytes) } as const;
  }
}

test.each<[string, { readonly agent: string; readonly user: string; readonly after: string }]>([
  [
    "lines of both, far from each other",
    { agent: "1\nA\n3\n4\n5\n", user: "1\nA\n3\n4\nU\n", after: "1\n2\n3\n4\nU\n" },
  ],
  ["the user's in front", { agent: "1\n2\n3\n4\nA\n", user: "U\n1\n2\n3\n4\nA\n", after: "U\n1\n2\n3\n4\n5\n" }],
  ["what the user took back already", { agent: "A\n2\n3\n4\nB\n", user: "1\n2\n3\n4\nB\n", after: "1\n2\n3\n4\n5\n" }],
])("an undo merges %s", async (_title, { agent, user, after }) => {
  const files = new Files({ a: "1\n2\n3\n4\n5\n" });
  files.byAgent("a", agent);
  files.byUser("a", user);
  expect(await files.undo()).toEqual([]);
  expect(files.text("a")).toBe(after);
});

test("a file in which both changed the same line stays, and the others go back", async () => {
  const files = new Files({ a: "1\n2\n3\n", b: "1\n2\n3\n" });
  files.byAgent("a", "1\nA\n3\n");
  files.byAgent("b", "1\nA\n3\n");
  files.byUser("a", "1\nU\n3\n");
  expect(await files.undo()).toEqual(["a"]);
  expect([files.text("a"), files.text("b")]).toEqual(["1\nU\n3\n", "1\n2\n3\n"]);
});

test("whatever a user does between and after an agent's edits, an undo takes nothing of it", async () => {
  const edit = fc.record({
    by: fc.constantFrom("agent", "user"),
    path: fc.constantFrom("a", "b"),
    at: fc.nat({ max: 30 }),
    removes: fc.nat({ max: 2 }),
    adds: fc.nat({ max: 2 }),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(edit, { minLength: 1, maxLength: 8 }), async (edits) => {
      const text = Array.from({ length: 20 }, (_, line) => `line ${line}\n`).join("");
      const files = new Files({ a: text, b: text });
      const removed = { agent: new Set<string>(), user: new Set<string>() };
      for (const [index, { by, path, at, removes, adds }] of edits.entries()) {
        const lines = files.text(path).split(/(?<=\n)/);
        const added = Array.from({ length: adds }, (_, line) => `${by} ${index}.${line}\n`);
        for (const line of lines.splice(at, removes, ...added))
          removed[by === "user" ? "user" : "agent"].add(`${path} ${line}`);
        if (by === "user") files.byUser(path, lines.join(""));
        else files.byAgent(path, lines.join(""));
      }
      const before = { a: files.text("a"), b: files.text("b") };
      const stays = await files.undo();
      for (const path of ["a", "b"] as const) {
        const now = files.text(path).split(/(?<=\n)/);
        if (stays.includes(path)) {
          expect(files.text(path)).toBe(before[path]);
          continue;
        }
        const users = before[path].split(/(?<=\n)/).filter((line) => line.startsWith("user"));
        expect(now).toEqual(expect.arrayContaining(users));
        expect(now.filter((line) => line.startsWith("agent") || removed.user.has(`${path} ${line}`))).toEqual([]);
        const gone = [...removed.agent].filter((line) => line.startsWith(`${path} line`)).map((line) => line.slice(2));
        expect(now).toEqual(expect.arrayContaining(gone));
      }
    }),
    { numRuns: 1_000 },
  );
});
