import { exec } from "node:child_process";
import { promisify } from "node:util";
import { expect, test } from "vitest";
import { cliScene } from "../../cli-scene.ts";

/** Two sessions: the older one changed `old.txt`, the newer one both files of `new/`. */
async function twoSessions() {
  const scene = await cliScene({ "old.txt": "apple\n", "new/a.txt": "pear\n", "new/b.txt": "pear\n" });
  for (const request of ["replace apple with fig in old.txt", "replace pear with plum in new/**"]) {
    expect(await scene.run("run", request, "--yes", "--commands", "ask")).toMatchObject({ code: 0 });
  }
  const ids = (await scene.run("sessions")).out.split("\n").map((line) => line.split(" ")[0] ?? "");
  return Object.assign(scene, { newer: ids[0] ?? "", older: ids[1] ?? "" });
}

test("what a person changed since stays, and nothing of an older session is taken back in its place", async () => {
  await using here = await twoSessions();
  await here.repository.write("new/a.txt", "mine\n");
  const list = (await here.run("undo", "--list")).out;
  expect(list).toMatch(
    /^session \S+\nturn 1 .*new[\s\S]*\n {2}new\/a\.txt {2}changed since, not by the agent\nsession /,
  );
  expect(list).toContain(`session ${here.older}\nturn 1 `);

  for (const flags of [[], ["--json"]]) {
    const undone = await here.run("undo", ...flags);
    expect(undone).toMatchObject({ code: 1, out: "" });
    expect(undone.err).toContain(`Session ${here.newer}: new/a.txt changed since, so nothing was undone.`);
    expect(undone.err).toContain(`undo --list --session ${here.newer}\n`);
    expect(undone.err).toContain(`undo --session ${here.older}\n`);
  }
  expect(await here.repository.read("old.txt")).toBe("fig\n");
  expect(await here.repository.read("new/b.txt")).toBe("plum\n");

  expect((await here.run("undo")).err).toContain("undo --rest\n");

  const named = await here.run("undo", "--session", here.newer);
  expect(named).toMatchObject({ code: 1, err: expect.stringContaining("new/a.txt changed since") });
  expect(await here.run("undo", "--rest")).toMatchObject({
    code: 0,
    out: "restored new/b.txt\nleft as it is: new/a.txt (changed since, not by the agent)\n",
  });
  expect(await here.repository.read("new/b.txt")).toBe("pear\n");
  expect(await here.run("undo", "--session", here.older)).toMatchObject({ code: 0, out: "restored old.txt\n" });
  expect(await here.repository.read("new/a.txt")).toBe("mine\n");
});

test("where the session is in a working tree of its own, the way there is said, and works", async () => {
  await using scene = await cliScene({ "a.txt": "apple\n" });
  const request = "replace apple with fig in a.txt";
  expect(await scene.run("run", request, "--worktree", "--yes", "--commands", "ask")).toMatchObject({ code: 0 });
  const tree = (await scene.run("sessions", "worktrees")).out.split(" ")[0] ?? "";
  const undone = await scene.run("undo");
  expect(undone).toMatchObject({ code: 2, out: "" });
  expect(undone.err).toContain(`undo --workspace ${tree}\n`);
  expect(undone.err).toContain("Moved or renamed?");
  const { out } = await scene.run("sessions");
  expect(out).toContain("No sessions yet.");
  expect(out).toContain(`sessions --workspace ${tree}\n`);
  expect(await scene.run("undo", "--workspace", tree)).toMatchObject({ code: 0, out: "restored a.txt\n" });
});

test.each([[[]], [["--turn", "1"]]])(
  "a commit that undo leaves is named, with what takes it back: %j",
  async (flags) => {
    await using here = await twoSessions();
    await here.repository.git("commit", "--quiet", "--message", "plums", "--", "new");
    const { out } = await here.run("undo", ...flags);
    const [, next = ""] = /^Commit [0-9a-f]+ \(plums\) stays\. To undo it too: (.+)$/m.exec(out) ?? [];
    expect(next).toMatch(/^git add --all new\/a\.txt new\/b\.txt && git commit --message "Undo [0-9a-f]+"$/);
    await promisify(exec)(next, { cwd: here.repository.root });
    expect(await here.repository.git("show", "HEAD:new/a.txt")).toBe("pear");
    expect(await here.repository.git("show", "HEAD:old.txt")).toBe("apple");
    // Nothing is said of a commit that holds no change of the agent's.
    expect((await here.run("undo", "--session", here.older)).out).toBe("restored old.txt\n");
  },
);
