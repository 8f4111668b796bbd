import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, readdirSync } from "node:fs";
import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { recoverFileSets } from "@gennai/machine/change-set/file-sets";
import { builtProgram } from "@gennai/testkit/built-program";
import { temporaryDirectory } from "@gennai/testkit/temporary-repository";
import { type CrashOptions, randomNumbers } from "../crash-options.ts";
import { EffectCounts } from "../effect-counts.ts";
import { killProcess } from "../kill-process.ts";

const writer = builtProgram(new URL("../../../packages/machine/test/change-set/crashing-writer.ts", import.meta.url));
const size = 20_000;

/** Kills a process that applies sets of changes. No file is ever half of one text, and after recovery no set is half done. */
export async function applyRounds({ rounds, seed, onRound }: CrashOptions): Promise<void> {
  const random = randomNumbers(seed);
  const effects = new EffectCounts();
  for (let round = 0; round < rounds; round += 1) {
    const names = ["one", "dir/two", "single"];
    await using directory = await temporaryDirectory(
      Object.fromEntries(names.map((name) => [`ws/${name}`, "a".repeat(size)])),
    );
    const child = spawn(process.execPath, [writer, directory.path("ws"), directory.path("state"), "loop"], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    // It says a number after each time that it changed all files.
    let said = "";
    child.stdout.on("data", (chunk) => (said += chunk));
    const gone = once(child, "exit").then(() => assert.fail("It ended by itself."));
    await Promise.race([once(child.stdout, "data"), gone]);
    // A living process's journals are its own business.
    assert.deepEqual(await recoverFileSets(directory.path("state")), [], `round ${round}`);
    await delay(random() * 150);
    await killProcess(child);
    effects.want("changing files");
    effects.add("changing files", said.split("\n").length - 1);
    const left = await letters(directory.path("ws"));
    for (const [name, letter] of left) assert.match(letter, /^[ab]$/, `round ${round}: ${name}`);
    const [recovered] = await recoverFileSets(directory.path("state"));
    const found = await letters(directory.path("ws"));
    assert.deepEqual([...found.keys()].sort(), ["dir/two", "one", "single"], `round ${round}`);
    assert.equal(found.get("dir/two"), found.get("one"), `round ${round}: half of a set`);
    const journals = directory.path("state/workspace-journals");
    assert.deepEqual(existsSync(journals) ? readdirSync(journals) : [], [], `round ${round}`);
    onRound?.(round, `set ${recovered?.state ?? "whole"}`);
  }
  effects.expectAll();
}

/** What each file consists of: one letter, or something longer that says what is wrong. Temporary files count after recovery. */
async function letters(root: string): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const entry of await readdir(root, { recursive: true, withFileTypes: true })) {
    const path = join(entry.parentPath, entry.name);
    if (!entry.isFile()) continue;
    const name = path.slice(root.length + 1);
    const text = await readFile(path, "utf8");
    const letter = text.charAt(0);
    // One that is being written is not a file of the workspace yet; recovery takes it away.
    if (name.includes(".gennai-tmp-") && text.length < size) {
      found.set(name, "a");
      continue;
    }
    found.set(name, text === letter.repeat(size) ? letter : `${text.length} bytes of ${letter}`);
  }
  return found;
}
