import { existsSync, readdirSync, rmSync } from "node:fs";
import type { Finding } from "@gennai/machine/finding";
import { describe, expect, test } from "vitest";
import { stageFinding } from "#stage-check";
import { inNamespaces } from "../../stage/test/mount/in-namespaces.ts";
import { StageFixture } from "../../stage/test/stage-fixture.ts";

const files = { "a.txt": "a\n", "src/b.txt": "b\n" };
const program = new URL("stage-check-program.ts", import.meta.url);

describe("what the doctor says of stages", () => {
  test("that there are some; also before the first start, of which it makes nothing", async () => {
    await using fixture = new StageFixture(files);
    expect(await stageFinding(fixture.root, fixture.stateDir)).toMatchObject({ state: "ok" });
    rmSync(fixture.stateDir, { recursive: true });
    const before = readdirSync(fixture.base);
    expect(await stageFinding(fixture.root, `${fixture.stateDir}/deep/er`)).toMatchObject({ state: "ok" });
    expect(readdirSync(fixture.base)).toEqual(before);
    expect(existsSync(fixture.stateDir)).toBe(false);
  });

  // Only root can make the mounts of these.
  describe.runIf(process.getuid?.() === 0)("with mounts of others", () => {
    test.each([
      ["a mount inside", 'mount -t tmpfs x "$1/src"', /mount_inside.*src/, /^Unmount it/],
      ["no place", 'mount -t tmpfs x "$1"', /no_place/, /same file system/],
      ["another owner", 'chown 4711 "$1"', /foreign_owner/, /chown -R/],
    ])("%s: the cause, and the one thing to do", async (_what, commands, cause, advice) => {
      await using fixture = new StageFixture(files);
      const [found] = inNamespaces<Finding>(fixture, program, commands, { users: [0] });
      expect(found).toMatchObject({ state: "warn", text: expect.stringMatching(cause) });
      expect(found?.next).toEqual([expect.stringMatching(advice)]);
    });

    test("no namespaces: the switch that is closed", async () => {
      await using fixture = new StageFixture(files);
      const commands = "echo 0 > /proc/sys/user/max_user_namespaces";
      const namespaces = ["--user", "--map-root-user"];
      const [found] = inNamespaces<Finding>(fixture, program, commands, { users: [0], namespaces });
      expect(found).toMatchObject({ state: "warn", text: expect.stringMatching(/no_user_namespaces/) });
      expect(found?.next).toEqual(["sudo sysctl user.max_user_namespaces=15000"]);
    });
  });
});
