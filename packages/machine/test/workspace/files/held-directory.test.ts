import { spawn } from "node:child_process";
import { once } from "node:events";
import {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { withoutRoot } from "@gennai/testkit/without-root";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { sha256 } from "#workspace/files/content-digest";
import { openLocalWorkspace } from "#workspace/local-workspace";

const top = realpathSync(mkdtempSync(join(tmpdir(), "gennai-held-")));
afterAll(() => rmSync(top, { recursive: true, force: true }));

let directory = "";
let outside = "";
let count = 0;
beforeEach(() => {
  count += 1;
  directory = join(top, `${count}/ws`);
  outside = join(top, `${count}/outside`);
  for (const path of [join(directory, "src/deep"), join(outside, "deep")]) mkdirSync(path, { recursive: true });
});
const open = () => openLocalWorkspace(directory, { stateDir: join(top, `${count}/state`) });
const bytes = (text: string): Uint8Array => Buffer.from(text);

describe.runIf(process.platform === "linux")("on Linux", () => {
  test("no descriptor is left open, whatever happens", async () => {
    const workspace = open();
    writeFileSync(join(directory, "src/deep/a"), "a");
    const file = await workspace.resolve("src/deep/a");
    const missing = await workspace.resolve("src/none/a");
    const folder = await workspace.resolve("src");
    const descriptors = (): number => readdirSync("/proc/self/fd").length;
    const failing = [
      () => workspace.read(missing, { maxBytes: 9 }),
      () => workspace.read(folder, { maxBytes: 9 }),
      () => workspace.read(file, { maxBytes: 0 }),
      () => workspace.list(file, { ignore: [], limit: 9 }),
      () => workspace.apply([{ operation: "update", path: file, bytes: bytes("b"), baseSha256: "" }]),
      () => workspace.apply([{ operation: "create", path: folder, bytes: bytes("b") }]),
    ];
    const before = descriptors();
    for (let round = 0; round < 300; round += 1) {
      for (const fail of failing) await expect(fail()).rejects.toThrow();
      await workspace.read(file, { maxBytes: 9 });
      await workspace.stat(file);
      await workspace.list(folder, { ignore: [], limit: 9 });
    }
    for (let round = 0; round < 30; round += 1) {
      const path = await workspace.resolve(`made/${round}/x`);
      await workspace.apply([
        { operation: "create", path, bytes: bytes("b") },
        { operation: "update", path: file, bytes: bytes("a"), baseSha256: sha256(bytes("a")) },
      ]);
      await workspace.apply([{ operation: "delete", path, baseSha256: sha256(bytes("b")) }]);
    }
    expect(descriptors()).toBe(before);
  });

  test("a parent that is swapped for a link all the time never leads a write or a read outside", async () => {
    const workspace = open();
    writeFileSync(join(directory, "src/deep/kept"), "inside");
    writeFileSync(join(outside, "deep/kept"), "outside");
    const swapper = `
      const fs = require("node:fs"), path = process.argv[1] + "/src", out = process.argv[2];
      const pause = new Int32Array(new SharedArrayBuffer(4));
      process.stdout.write("ready");
      for (;;) {
        Atomics.wait(pause, 0, 0, Math.random() * 6);
        try {
          fs.renameSync(path, path + ".real"); fs.symlinkSync(out, path);
          fs.unlinkSync(path); fs.renameSync(path + ".real", path);
        } catch {
          // The workspace made the directory anew while it was away.
          try { fs.rmSync(path, { recursive: true }); fs.renameSync(path + ".real", path); } catch {}
        }
      }`;
    const child = spawn(process.execPath, ["-e", swapper, directory, outside], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    await once(child.stdout, "data");
    const tally = { done: 0, refused: 0 };
    const keptSha256 = sha256(bytes("inside"));
    const until = performance.now() + 1500;
    try {
      for (let round = 0; performance.now() < until; round += 1) {
        const raw = `src/deep/x${round}`;
        try {
          const path = await workspace.resolve(raw);
          const kept = await workspace.resolve("src/deep/kept");
          if (kept.inside) {
            const { bytes: read } = await workspace.read(kept, { maxBytes: 99 });
            expect(Buffer.from(read).toString()).toBe("inside");
          }
          await workspace.apply([{ operation: "create", path, bytes: bytes("x") }]);
          await workspace.apply([{ operation: "update", path: kept, bytes: bytes("inside"), baseSha256: keptSha256 }]);
          tally.done += 1;
        } catch (error) {
          expect(error).toMatchObject({ name: "ToolFailure" });
          tally.refused += 1;
        }
      }
    } finally {
      child.kill("SIGKILL");
      await once(child, "close");
    }
    expect(readdirSync(join(outside, "deep"))).toEqual(["kept"]);
    expect(readFileSync(join(outside, "deep/kept"), "utf8")).toBe("outside");
    expect(tally.done).toBeGreaterThan(0);
    expect(tally.refused).toBeGreaterThan(0);
  });
});

test("what may not be touched is permission_denied", async () => {
  await withoutRoot(top, async () => {
    const workspace = open();
    writeFileSync(join(directory, "src/deep/a"), "a");
    const path = await workspace.resolve("src/deep/a");
    const update = { operation: "update", path, bytes: bytes("b"), baseSha256: sha256(bytes("a")) } as const;
    const create = { operation: "create", path: await workspace.resolve("src/deep/new"), bytes: bytes("b") } as const;
    const denied = { code: "permission_denied", failureClass: "permission_denied" };
    chmodSync(join(directory, "src/deep/a"), 0o444);
    await expect(workspace.apply([update])).rejects.toMatchObject(denied);
    const back = { ...update, bytes: bytes("a"), baseSha256: sha256(bytes("b")) };
    for (const change of [update, back]) await workspace.apply([change], { readOnlyToo: true });
    expect(statSync(join(directory, "src/deep/a")).mode & 0o777).toBe(0o444);
    chmodSync(join(directory, "src/deep/a"), 0o200);
    await expect(workspace.read(path, { maxBytes: 9 })).rejects.toMatchObject(denied);
    chmodSync(join(directory, "src/deep/a"), 0o644);
    chmodSync(join(directory, "src/deep"), 0o555);
    await expect(workspace.apply([update])).rejects.toMatchObject(denied);
    await expect(workspace.apply([create])).rejects.toMatchObject(denied);
    chmodSync(join(directory, "src/deep"), 0o755);
    expect(readdirSync(join(directory, "src/deep"))).toEqual(["a"]);
    expect(readFileSync(join(directory, "src/deep/a"), "utf8")).toBe("a");
  });
});
