import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { expect, onTestFinished, test, vi } from "vitest";
import { startServer } from "#node/start-server";

test.each([":/nowhere", ".:/nowhere", "bin:/nowhere"])(
  "with PATH %s no program of the workspace is started",
  async (path) => {
    const workspace = mkdtempSync(join(tmpdir(), "gennai-start-"));
    onTestFinished(() => rmSync(workspace, { recursive: true }));
    for (const file of [join(workspace, "gennai"), join(workspace, "bin", "gennai")]) {
      mkdirSync(dirname(file), { recursive: true });
      writeFileSync(file, `#!/bin/sh\n: > ${workspace}/ran\n`);
      chmodSync(file, 0o755);
    }
    vi.stubEnv("PATH", path);
    onTestFinished(() => void vi.unstubAllEnvs());
    await expect(startServer({ command: ["gennai"], workspace, signal: undefined })).rejects.toMatchObject({
      code: "unavailable",
    });
    expect(existsSync(join(workspace, "ran"))).toBe(false);
  },
);
