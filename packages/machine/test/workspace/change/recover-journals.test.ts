import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { builtProgram } from "@gennai/testkit/built-program";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { recoverWorkspaceJournals } from "#workspace/change/recover-journals";

const top = realpathSync(mkdtempSync(join(tmpdir(), "gennai-crash-")));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const before = { one: "a", "dir/two": "a", single: "a" };
const after = { one: "b", "dir/two": "b", "new/deep/three": "b" };

describe("kill -9 at any call of an apply of four changes", () => {
  let calls = 0;
  beforeAll(async () => {
    calls = Number((await crash("calibrate", 0)).output);
  });

  test("leaves whole files, and recovery makes all or nothing of them", async () => {
    expect(calls).toBeGreaterThan(20);
    const points = Array.from({ length: calls }, (_, index) => index + 1);
    const seen = new Set<string>();
    const worker = async (): Promise<void> => {
      for (let point = points.shift(); point !== undefined; point = points.shift()) {
        const place = `point-${point}`;
        const { signal } = await crash(place, point);
        expect(signal).toBe("SIGKILL");
        for (const letters of Object.values(files(place, { temporaries: false }))) expect(letters).toMatch(/^[ab]$/);
        const [recovered, ...others] = recoverWorkspaceJournals(join(top, place, "state"));
        expect(others).toEqual([]);
        seen.add(recovered?.state ?? "no journal");
        const found = files(place, { temporaries: true });
        // Without a journal: it was not begun, or everything was done and the journal removed.
        const isDone = recovered?.state === "completed" || (recovered === undefined && found["one"] === "b");
        expect(found, `before call ${point}`).toEqual(isDone ? after : before);
        expect(existsSync(join(top, place, "ws/new"))).toBe(isDone);
        expect(statSync(join(top, place, "ws/one")).mode & 0o777).toBe(0o640);
        expect(journals(place)).toEqual([]);
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    expect([...seen]).toEqual(expect.arrayContaining(["not_started", "rolled_back", "completed"]));
  });

  test("a file that somebody changed since stays as it is, and so does the journal", async () => {
    const place = await crashedHalfWay("changed");
    writeFileSync(join(top, place, "ws/one"), "cccc");
    const found = files(place, { temporaries: false });
    for (const _ of [1, 2]) {
      const [recovered] = recoverWorkspaceJournals(join(top, place, "state"));
      expect(recovered).toMatchObject({ state: "partial", root: join(top, place, "ws") });
      expect(recovered?.files).toContainEqual({ path: "one", state: "other" });
      expect(files(place, { temporaries: true })).toEqual(found);
    }
    const [journal = ""] = readdirSync(join(top, place, "state/workspace-journals"));
    expect(statSync(join(top, place, "state/workspace-journals", journal)).mode & 0o777).toBe(0o600);
  });

  test("only reports when rolling back is not wanted, and rolls back when it is", async () => {
    const place = await crashedHalfWay("report");
    const state = join(top, place, "state");
    expect(recoverWorkspaceJournals(state, { rollBack: false })).toMatchObject([{ state: "partial" }]);
    expect(recoverWorkspaceJournals(state)).toMatchObject([{ state: "rolled_back" }]);
    expect(files(place, { temporaries: true })).toEqual(before);
    expect(recoverWorkspaceJournals(state)).toEqual([]);
  });

  test("a workspace that is gone, and a damaged journal, are reported and kept", async () => {
    const place = await crashedHalfWay("gone");
    const state = join(top, place, "state");
    renameSync(join(top, place, "ws"), join(top, place, "elsewhere"));
    expect(recoverWorkspaceJournals(state)).toMatchObject([{ state: "unreachable" }]);
    renameSync(join(top, place, "elsewhere"), join(top, place, "ws"));
    const [name = ""] = readdirSync(join(state, "workspace-journals"));
    const path = join(state, "workspace-journals", name);
    const whole = readFileSync(path);
    writeFileSync(path, whole.subarray(0, 100));
    expect(recoverWorkspaceJournals(state)).toMatchObject([{ state: "unreadable", journalPath: path }]);
    writeFileSync(path, whole);
    expect(recoverWorkspaceJournals(state)).toMatchObject([{ state: "rolled_back" }]);
  });

  /** Kills at the first call after which recovery finds a mixture. */
  async function crashedHalfWay(place: string): Promise<string> {
    for (let point = calls - 4; point > 0; point -= 2) {
      rmSync(join(top, place), { recursive: true, force: true });
      await crash(place, point);
      if (recoverWorkspaceJournals(join(top, place, "state"), { rollBack: false })[0]?.state === "partial")
        return place;
    }
    throw new Error("no call leaves a mixture");
  }
});

test("kill -9 at any call of a second change of one file, whose journal was kept, leaves it whole", async () => {
  const calls = Number((await crash("again-calibrate", 0, "again")).output);
  expect(calls).toBeGreaterThan(3);
  // A process that ends in order leaves none.
  expect(journals("again-calibrate")).toEqual([]);
  const seen = new Set<string>();
  for (let point = 1; point <= calls; point += 1) {
    const place = `again-${point}`;
    expect((await crash(place, point, "again")).signal).toBe("SIGKILL");
    expect(journals(place)).toHaveLength(1);
    const [recovered, ...others] = recoverWorkspaceJournals(join(top, place, "state"));
    expect(others).toEqual([]);
    seen.add(recovered?.state ?? "no journal");
    const found = files(place, { temporaries: true });
    const isWritten = recovered?.state === "completed" || (recovered === undefined && point > 1);
    expect(found, `before call ${point}`).toEqual({ ...before, single: isWritten ? "b" : "c" });
    expect(journals(place)).toEqual([]);
  }
  expect([...seen].sort()).toEqual(["completed", "no journal", "not_started"]);
});

test("a journal of one change from before a power cut is dropped, because its change may have ended long before", async () => {
  const [place, state] = ["boot", join(top, "boot", "state")];
  let found: Record<string, string> = {};
  for (let point = 1; !Object.keys(found).some((path) => path.includes(".gennai-tmp-")); point += 1) {
    rmSync(join(top, place), { recursive: true, force: true });
    expect((await crash(place, point, "again")).signal).toBe("SIGKILL");
    found = files(place, { temporaries: true });
  }
  const [name = ""] = journals(place);
  const directory = join(state, "workspace-journals");
  renameSync(join(directory, name), join(directory, name.replace(/-[0-9a-f]+-(\d+\.json)$/, "-0123456789ab-$1")));
  expect(recoverWorkspaceJournals(state)).toEqual([]);
  expect([journals(place), files(place, { temporaries: true })]).toEqual([[], { ...before, single: "c" }]);
});

test("without a state directory there is nothing to recover", () => {
  expect(recoverWorkspaceJournals(join(top, "none"))).toEqual([]);
});

const writer = builtProgram(new URL("crashing-writer.ts", import.meta.url));

function journals(place: string): string[] {
  const directory = join(top, place, "state/workspace-journals");
  return existsSync(directory) ? readdirSync(directory) : [];
}

function prepare(place: string): void {
  const root = join(top, place, "ws");
  mkdirSync(join(root, "dir"), { recursive: true });
  for (const path of Object.keys(before)) writeFileSync(join(root, path), "a".repeat(20_000));
  chmodSync(join(root, "one"), 0o640);
}

async function crash(
  place: string,
  dieAt: number,
  kind = "",
): Promise<{ readonly signal: unknown; readonly output: string }> {
  prepare(place);
  const child = spawn(
    process.execPath,
    [writer, join(top, place, "ws"), join(top, place, "state"), String(dieAt), kind],
    {
      stdio: ["ignore", "pipe", "inherit"],
    },
  );
  let output = "";
  child.stdout.on("data", (bytes) => (output += bytes));
  const [, signal] = await once(child, "close");
  return { signal, output };
}

/** Path -> the one letter that a whole file consists of, or something longer that says what is wrong. */
function files(place: string, options: { readonly temporaries: boolean }): Record<string, string> {
  const root = join(top, place, "ws");
  const found: Record<string, string> = {};
  for (const path of readdirSync(root, { recursive: true }).map(String)) {
    if (!statSync(join(root, path)).isFile()) continue;
    if (!options.temporaries && path.includes(".gennai-tmp-")) continue;
    const text = readFileSync(join(root, path), "utf8");
    const letter = text.charAt(0);
    found[path] = text === letter.repeat(20_000) ? letter : `${text.length} bytes of ${letter}`;
  }
  return found;
}
