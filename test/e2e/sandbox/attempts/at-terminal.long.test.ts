import { expect, test } from "vitest";
import { loopbackService } from "../loopback-service.ts";
import { bash, fetched, leavesNothing, project } from "./attempt-project.ts";

test("in Proposal Mode the best is proposed, and nothing is written where nobody can be asked", async () => {
  await using place = await project([[bash("echo 2 > value.txt; seq 20 > more.txt")], [bash("echo 2 > value.txt")]]);
  const unasked = await place.run(...place.request, "--mode", "proposal", "set the value");
  expect(unasked).toMatchObject({ code: 3, err: "" });
  expect(unasked.out).toContain("Proposed: 1 file, 1 hunk. Nothing is written yet.");
  expect(await place.repository.read("value.txt")).toBe("0\n");
});

test("what attempts want to reach is let through by --allow, for the check as well", async () => {
  using served = await loopbackService({ "/one": "2\n", "/two": "3\n" });
  using other = await loopbackService({ "/three": "4\n" });
  await using place = await project([[fetched("one", served.port)], [fetched("three", other.port)]]);
  const reached = `curl -sS --max-time 20 http://127.0.0.1:${served.port}/check && node check.mjs`;
  const { out } = await place.run(
    ...[...place.request, "--check", reached, "--allow", `127.0.0.1:${served.port}`, "fetch the value"],
  );
  expect(out).toMatch(/attempt 2 .*nothing changed/);
  expect(out).toMatch(/attempt 1 {2}check passed/);
  expect(out).toContain("1 │   approved by --allow");
  // Nobody is there who could be asked about the other one.
  expect(other.asked).toEqual([]);
  expect(served.asked).toEqual(expect.arrayContaining(["/one", "/check"]));
});

test("where no attempt changes anything, that is said", async () => {
  await using place = await project([[], []]);
  const { code, out } = await place.run(...place.request, "do nothing");
  expect(code).toBe(1);
  expect(out).toContain("attempt 1  not checked   nothing changed");
});

test("a SIGINT in the middle leaves nothing", () => leavesNothing("SIGINT", 130));
