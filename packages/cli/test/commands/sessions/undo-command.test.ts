import { expect, test } from "vitest";
import { cliScene } from "../../cli-scene.ts";

/** Two sessions: the older one changed `old.txt`, the newer one both files of `new/`. */
async function twoSessions() {
  const scene = await cliScene({ "old.txt": "apple\n", "new/a.txt": "pear\n", "new/b.txt": "pear\n" });
  for (const request of ["replace apple with fig in old.txt", "replace pear with plum in new/**"]) {
    expect(await scene.run("run", request, "--yes", "--sandbox", "off")).toMatchObject({ code: 0 });
  }
  const ids = (await scene.run("sessions")).out.split("\n").map((line) => line.split(" ")[0] ?? "");
  return Object.assign(scene, { newer: ids[0] ?? "", older: ids[1] ?? "" });
}

test("what a person changed since stays: that session is passed over, told why, and the next one taken back", async () => {
  await using here = await twoSessions();
  await here.repository.write("new/a.txt", "mine\n");
  const list = (await here.run("undo", "--list")).out;
  expect(list).toMatch(
    /^session \S+\nturn 1 .*new[\s\S]*\n {2}new\/a\.txt {2}changed since, not by the agent\nsession /,
  );
  expect(list).toContain(`session ${here.older}\nturn 1 `);

  const undone = await here.run("undo");
  expect(undone).toMatchObject({ code: 0, out: `Session ${here.older}:\nrestored old.txt\n` });
  expect(undone.err).toContain(`Skipped session ${here.newer}: new/a.txt changed since, so nothing was taken back.\n`);
  expect(undone.err).toContain(`undo --list --session ${here.newer}\n`);
  expect(await here.repository.read("new/a.txt")).toBe("mine\n");
  expect(await here.repository.read("new/b.txt")).toBe("plum\n");

  const again = await here.run("undo");
  expect(again).toMatchObject({ code: 1, out: "", err: expect.stringContaining("Nothing was taken back.") });
  const named = await here.run("undo", "--session", here.newer);
  expect(named).toMatchObject({ code: 1, err: expect.stringContaining("new/a.txt changed since") });
});

test("--json says what was passed over", async () => {
  await using here = await twoSessions();
  for (const name of ["a", "b"]) await here.repository.write(`new/${name}.txt`, "mine\n");
  const { out } = await here.run("undo", "--json");
  expect(JSON.parse(out)).toMatchObject({
    sessionId: here.older,
    files: [{ path: "old.txt" }],
    skipped: [{ sessionId: here.newer, reason: "new/a.txt, new/b.txt changed since, so nothing was taken back." }],
  });
});
