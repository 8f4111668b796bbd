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
import { recoverFileSets } from "#change-set/file-sets";

const top = realpathSync(mkdtempSync(join(tmpdir(), "gennai-crash-")));
afterAll(() => rmSync(top, { recursive: true, force: true }));

const before = { one: "a", "dir/two": "a", single: "a" };
const after = { one: "b", "dir/two": "b", "new/deep/three": "b" };

describe("kill -9 at any call of an apply of four changes", () => {
  let calls = 0;
  let halfWay = 1;
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
        const [recovered, ...others] = await recoverFileSets(join(top, place, "state"));
        expect(others).toEqual([]);
        seen.add(recovered?.state ?? "no journal");
        const found = files(place, { temporaries: true });
        // Without a journal: it was not begun, or everything was done and the journal removed.
        const isDone =
          recovered === undefined ? found["one"] === "b" : recovered.state === "finished" || recovered.state === "kept";
        expect(found, `before call ${point}`).toEqual(isDone ? after : before);
        expect(existsSync(join(top, place, "ws/new"))).toBe(isDone);
        expect(statSync(join(top, place, "ws/one")).mode & 0o777).toBe(0o640);
        expect(journals(place)).toEqual([]);
      }
    };
    await Promise.all([worker(), worker(), worker()]);
    expect([...seen]).toEqual(expect.arrayContaining(["removed", "finished", "kept"]));
  });

  test("what somebody changed since stays, and all else is as before", async () => {
    const place = await crashedHalfWay("changed");
    writeFileSync(join(top, place, "ws/one"), "cccc");
    expect(await recoverFileSets(join(top, place, "state"))).toMatchObject([{ state: "taken_back" }]);
    expect(files(place, { temporaries: true })).toEqual({ ...before, one: "4 bytes of c" });
    expect([existsSync(join(top, place, "ws/new")), journals(place)]).toEqual([false, []]);
  });

  test("what somebody made in the place of a removed file stays", async () => {
    const place = await crashedHalfWay("made");
    writeFileSync(join(top, place, "ws/new/deep/three"), "cccc");
    expect(await recoverFileSets(join(top, place, "state"))).toMatchObject([{ state: "taken_back" }]);
    expect(files(place, { temporaries: true })).toEqual({ ...before, "new/deep/three": "4 bytes of c" });
  });

  test("a workspace that is gone, and a damaged journal, are told and kept", async () => {
    const place = await crashedHalfWay("gone");
    const state = join(top, place, "state");
    renameSync(join(top, place, "ws"), join(top, place, "elsewhere"));
    expect(await recoverFileSets(state)).toMatchObject([{ state: "stuck", reason: expect.stringContaining("ws") }]);
    renameSync(join(top, place, "elsewhere"), join(top, place, "ws"));
    const [name = ""] = journals(place);
    const path = join(state, "workspace-journals", name, "committing.json");
    expect(statSync(path).mode & 0o777).toBe(0o600);
    const whole = readFileSync(path);
    writeFileSync(path, whole.subarray(0, 100));
    expect(await recoverFileSets(state)).toMatchObject([{ state: "stuck", id: name }]);
    writeFileSync(path, whole);
    expect(await recoverFileSets(state)).toMatchObject([{ state: "finished" }]);
    expect(files(place, { temporaries: true })).toEqual(after);
  });

  /** Kills after the first file was put in place and before the last was removed. */
  async function crashedHalfWay(place: string): Promise<string> {
    for (; halfWay <= calls; halfWay += 1) {
      rmSync(join(top, place), { recursive: true, force: true });
      await crash(place, halfWay);
      const found = files(place, { temporaries: false });
      if (found["one"] === "b" && found["dir/two"] === "a") return place;
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
    const [recovered, ...others] = await recoverFileSets(join(top, place, "state"));
    expect(others).toEqual([]);
    seen.add(recovered?.state ?? "no journal");
    const found = files(place, { temporaries: true });
    const isWritten = recovered?.state === "finished" || (recovered === undefined && point > 1);
    expect(found, `before call ${point}`).toEqual({ ...before, single: isWritten ? "b" : "c" });
    expect(journals(place)).toEqual([]);
  }
  expect([...seen].sort()).toEqual(["finished", "no journal", "removed"]);
});

test("without a state directory there is nothing to recover", async () => {
  expect(await recoverFileSets(join(top, "none"))).toEqual([]);
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
    { stdio: ["ignore", "pipe", "inherit"] },
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
